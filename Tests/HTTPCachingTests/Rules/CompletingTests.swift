import FetchVocabulary
import Testing

@testable import HTTPCaching

/// RFC 9111, section 3.4; RFC 9110, sections 13.1.5 and 14.
struct CompletingTests {
  private static let content = "0123456789"
  private static let tag: HTTP.Fields = ["ETag": "\"v\""]

  private static func part(_ offsets: Range<Int>, _ fields: HTTP.Fields = tag) -> HTTP.Response {
    var fields = fields
    fields["Content-Range"] = ContentRange(offsets, of: content.count).text
    fields["Content-Length"] = String(offsets.count)
    return HTTP.Response(HTTP.ResponseHead(status: 206, fields: fields), body: Array(Array(content.utf8)[offsets]))
  }

  private static func stored(_ response: HTTP.Response) throws -> StoredHead {
    try #require(HTTPCacheRules.testing().stored(response.head.fields, status: response.head.status))
  }

  /// The stored part, the request, and the range to request from the origin; `nil` for an unchanged request.
  struct Question: Sendable, CustomTestStringConvertible {
    let stored: Range<Int>
    var request: HTTP.Fields = [:]
    var fields = tag
    var method = "GET"
    var limit = Int.max
    let range: String?

    var testDescription: String {
      "\(method) [\(request.text)] over \(stored) with [\(fields.text)]: \(range ?? "everything")"
    }

    static let all = [
      Question(stored: 0..<4, range: "bytes=4-"),
      Question(stored: 6..<10, range: "bytes=0-5"),
      Question(stored: 2..<4, range: nil),
      Question(stored: 0..<10, range: nil),
      Question(stored: 0..<4, request: ["Range": "bytes=2-7"], range: "bytes=4-7"),
      Question(stored: 0..<4, request: ["Range": "bytes=2-"], range: "bytes=4-"),
      Question(stored: 0..<4, request: ["Range": "bytes=-8"], range: "bytes=4-"),
      Question(stored: 5..<8, request: ["Range": "bytes=3-6"], range: "bytes=3-4"),
      Question(stored: 5..<8, request: ["Range": "bytes=3-9"], range: nil),
      // None of it is stored: the client's own range is requested, and joined with the stored part.
      Question(stored: 0..<4, request: ["Range": "bytes=4-7"], range: nil),
      Question(stored: 0..<4, request: ["Range": "bytes=2-3"], range: nil),
      Question(stored: 0..<4, request: ["Range": "bytes=2-3, 5-6"], range: nil),
      Question(stored: 0..<4, request: ["Range": "bytes=20-"], range: nil),
      Question(stored: 0..<4, request: ["Range": "lines=2-7"], range: "bytes=4-"),
      Question(stored: 0..<4, request: ["Range": "bytes=2-7", "If-Range": "\"v\""], range: "bytes=4-7"),
      Question(stored: 0..<4, request: ["Range": "bytes=2-7", "If-Range": "\"w\""], range: "bytes=4-"),
      Question(stored: 0..<4, request: ["If-None-Match": "\"v\""], range: nil),
      Question(stored: 0..<4, method: "HEAD", range: nil),
      Question(stored: 0..<4, fields: [:], range: nil),
      Question(stored: 0..<4, fields: ["ETag": "W/\"v\""], range: nil),
      Question(stored: 0..<4, fields: ["Last-Modified": date(-99), "Date": date()], range: "bytes=4-"),
      Question(stored: 0..<4, fields: ["Last-Modified": date(), "Date": date()], range: nil),
      Question(stored: 0..<4, limit: 10, range: "bytes=4-"),
      Question(stored: 0..<4, limit: 9, range: nil),
      Question(stored: 0..<4, request: ["Range": "bytes=2-7"], limit: 8, range: "bytes=4-7"),
    ]
  }

  @Test(arguments: Question.all)
  func requestsTheMissingPart(_ question: Question) throws {
    let stored = try Self.stored(Self.part(question.stored, question.fields))
    let request = HTTP.Request.testing(question.request, method: question.method)
    let rest = HTTPCacheRules.testing().completing(
      request, stored, count: question.stored.count, limit: question.limit)
    #expect(rest?.fields["range"] == question.range)
    #expect(rest?.fields["if-range"] == question.range.map { _ in question.fields["etag"] ?? date(-99) })
  }

  /// The origin's response to the request for the rest of `0..<4`.
  struct Answer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: HTTP.Response
    var request: HTTP.Fields = [:]
    var joined: String?
    var status = 200

    static let all = [
      Answer(testDescription: "the rest", response: part(4..<10), joined: content),
      Answer(testDescription: "more than the rest", response: part(2..<10), joined: content),
      Answer(testDescription: "everything as a part", response: part(0..<10), joined: content),
      Answer(
        testDescription: "the rest of a range", response: part(4..<8), request: ["Range": "bytes=2-7"],
        joined: "01234567", status: 206),
      Answer(testDescription: "a part of the rest", response: part(4..<8)),
      Answer(testDescription: "a part behind a gap", response: part(5..<10)),
      Answer(testDescription: "another tag", response: part(4..<10, ["ETag": "\"w\""])),
      Answer(testDescription: "a weak tag", response: part(4..<10, ["ETag": "W/\"v\""])),
      Answer(testDescription: "no tag", response: part(4..<10, [:])),
      Answer(testDescription: "another length", response: changed { $0.head.fields["Content-Range"] = "bytes 4-9/11" }),
      Answer(testDescription: "no length", response: changed { $0.head.fields["Content-Range"] = "bytes 4-9/*" }),
      Answer(testDescription: "fewer bytes than it says", response: changed { $0.body.removeLast() }),
      Answer(testDescription: "more bytes than it says", response: changed { $0.body.append(0) }),
      Answer(testDescription: "no range", response: changed { $0.head.fields["Content-Range"] = nil }),
      Answer(testDescription: "all of it", response: changed { $0.head.status = 200 }),
    ]

    private static func changed(_ change: (inout HTTP.Response) -> Void) -> HTTP.Response {
      var response = part(4..<10)
      change(&response)
      return response
    }
  }

  @Test(arguments: Answer.all)
  func joinsMatchingParts(_ answer: Answer) throws {
    let old = Self.part(0..<4)
    let result = HTTPCacheRules.testing().completed(
      try Self.stored(old), old.body, with: answer.response, for: .testing(answer.request), now: received)
    #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == answer.joined)
    guard let result else { return }
    #expect(result.head.status == answer.status)
    #expect(result.head.fields["content-length"] == String(result.body.count))
    #expect(result.head.fields["content-range"] == (answer.status == 206 ? "bytes 0-7/10" : nil))
    #expect(result.head.fields["etag"] == "\"v\"")
  }

  /// A response that broke off: its head, the number of bytes that arrived, and the range that is kept.
  @Test(
    arguments: [
      (200, ["ETag": "\"v\"", "Content-Length": "10"], 4, "bytes 0-3/10"),
      (200, ["ETag": "\"v\"", "Content-Length": "10"], 0, nil),
      (200, ["ETag": "\"v\"", "Content-Length": "10"], 10, nil),
      (200, ["ETag": "\"v\""], 4, nil),
      (200, ["ETag": "W/\"v\"", "Content-Length": "10"], 4, nil),
      (200, ["Content-Length": "10"], 4, nil),
      (200, ["Last-Modified": date(-99), "Date": date(), "Content-Length": "10"], 4, "bytes 0-3/10"),
      (206, ["ETag": "\"v\"", "Content-Length": "6", "Content-Range": "bytes 4-9/10"], 2, "bytes 4-5/10"),
      (206, ["ETag": "\"v\"", "Content-Length": "6"], 2, nil),
      (404, ["ETag": "\"v\"", "Content-Length": "10"], 4, nil),
    ] as [(Int, HTTP.Fields, Int, String?)])
  func keepsTheBeginning(_ status: Int, _ fields: HTTP.Fields, _ count: Int, _ place: String?) {
    let response = HTTP.Response(
      HTTP.ResponseHead(version: .http11, status: status, reason: "Fine", fields: fields),
      body: [UInt8](repeating: 1, count: count))
    let beginning = HTTPCacheRules.testing().beginning(of: response, now: received)
    #expect(beginning?.head.fields["content-range"] == place)
    guard let beginning else { return }
    #expect(beginning.body == response.body && beginning.head.status == 206 && beginning.head.reason == nil)
    #expect(beginning.head.fields["content-length"] == String(count))
  }
}
