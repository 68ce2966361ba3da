import Testing

@testable import HTTPCaching

/// RFC 9110, section 14; RFC 9111, section 3.3.
struct PartialContentTests {
  static let modified = date(-5_000)

  /// The part that a request gets from ten stored bytes, or from bytes 3 to 7 of ten.
  enum Expected: Sendable, Hashable {
    case whole, missing, unsatisfiable
    case part(String)
  }

  private static let complete = HTTP.Response(
    HTTP.ResponseHead(status: 200, fields: ["ETag": "\"v\"", "Last-Modified": modified, "Date": date(), "A": "1"]),
    body: Array("0123456789".utf8))
  private static let partial = HTTP.Response(
    HTTP.ResponseHead(
      status: 206,
      fields: ["ETag": "\"v\"", "Content-Range": "bytes 3-7/10", "Content-Length": "5", "Date": date(), "A": "1"]),
    body: Array("34567".utf8))

  @Test(
    arguments: [
      ("bytes=0-1", .part("01"), .missing), ("bytes=1-", .part("123456789"), .missing),
      ("bytes=-1", .part("9"), .missing),
      ("bytes=3-7", .part("34567"), .part("34567")), ("bytes=4-5", .part("45"), .part("45")),
      ("bytes=7-7", .part("7"), .part("7")),
      ("bytes=2-7", .part("234567"), .missing), ("bytes=3-8", .part("345678"), .missing),
      ("bytes=5-", .part("56789"), .missing),
      ("bytes=0-", .part("0123456789"), .missing), ("bytes=-100", .part("0123456789"), .missing),
      ("bytes=9-100", .part("9"), .missing), ("bytes=10-", .unsatisfiable, .unsatisfiable),
      ("bytes=99999999999999999999-", .unsatisfiable, .unsatisfiable),
      // A request for several ranges is sent to the origin; an invalid range is ignored.
      ("bytes=0-1,3-4", .missing, .missing), ("bytes=3-4, 5-6", .missing, .missing), ("items=0-1", .whole, .missing),
      ("bytes=x", .whole, .missing), ("bytes=5-4", .whole, .missing), ("", .whole, .missing),
    ] as [(String, Expected, Expected)])
  func answersARange(_ range: String, _ fromAll: Expected, _ fromSome: Expected) throws {
    #expect(try answer(["Range": range], from: Self.complete) == fromAll)
    #expect(try answer(["Range": range], from: Self.partial) == fromSome)
  }

  @Test func answersWithoutARange() throws {
    #expect(try answer([:], from: Self.complete) == .whole)
    #expect(try answer([:], from: Self.partial) == .missing)
    #expect(try answer(["If-Range": "\"w\""], from: Self.complete) == .whole)
    #expect(try answer(["Range": "bytes=0-1"], from: Self.complete, method: "HEAD") == .whole)
    #expect(try answer(["Range": "bytes=3-4"], from: Self.partial, method: "HEAD") == .missing)
  }

  @Test(arguments: [404, 301, 204, 203]) func rangesAreAboutSuccess(_ status: Int) throws {
    var response = Self.complete
    response.head.status = status
    #expect(try answer(["Range": "bytes=0-1"], from: response) == .whole)
  }

  @Test func anEmptyContentHasNoParts() throws {
    let empty = HTTP.Response(HTTP.ResponseHead(status: 200))
    #expect(try answer(["Range": "bytes=0-"], from: empty) == .whole)
    #expect(try answer(["Range": "bytes=-1"], from: empty) == .whole)
  }

  /// RFC 9110, section 13.1.5, for a response with the tag "v", with the weak tag, or with a date alone.
  @Test(arguments: [
    ("\"v\"", true, false, false), ("\"w\"", false, false, false), ("W/\"v\"", false, false, false),
    ("", false, false, false),
    (modified, false, false, true), (date(-4_999), false, false, false), (date(-5_001), false, false, false),
    ("foo", false, false, false),
  ])
  func aRangeCountsIfTheContentIsTheSame(_ condition: String, strong: Bool, weak: Bool, dated: Bool) throws {
    let heads: [(HTTP.Fields, Bool)] = [
      (["ETag": "\"v\"", "Last-Modified": Self.modified, "Date": date()], strong),
      (["ETag": "W/\"v\"", "Last-Modified": Self.modified, "Date": date()], weak),
      (["Last-Modified": Self.modified, "Date": date()], dated),
      // A date is not a strong validator if the content may have changed within the same second.
      (["Last-Modified": Self.modified, "Date": Self.modified], false), (["Last-Modified": Self.modified], false),
      ([:], false),
    ]
    for (fields, isPart) in heads {
      let response = HTTP.Response(HTTP.ResponseHead(status: 200, fields: fields), body: Self.complete.body)
      let answer = try answer(["Range": "bytes=0-1", "If-Range": condition], from: response)
      #expect(answer == (isPart ? .part("01") : .whole), "\(fields)")
    }
    #expect(try answer(["Range": "bytes=3-4", "If-Range": "\"w\""], from: Self.partial) == .missing)
    #expect(try answer(["Range": "bytes=3-4", "If-Range": "\"v\""], from: Self.partial) == .part("34"))
  }

  @Test func aPartHasASeparateHead() throws {
    for response in [Self.complete, Self.partial] {
      guard case .part(let head, _) = try answerOf(["Range": "bytes=4-5"], from: response) else {
        Issue.record("no part")
        return
      }
      #expect(
        head.status == 206 && head.fields["content-range"] == "bytes 4-5/10" && head.fields["content-length"] == "2")
      #expect(head.fields["etag"] == "\"v\"" && head.fields["date"] == date() && head.fields["a"] == "1")
    }
  }

  @Test func anUnsatisfiableRangeNamesTheLength() throws {
    for response in [Self.complete, Self.partial] {
      guard case .unsatisfiable(let head) = try answerOf(["Range": "bytes=10-"], from: response) else {
        Issue.record("satisfiable")
        return
      }
      #expect(head.status == 416 && head.fields["content-range"] == "bytes */10" && !head.fields.contains("etag"))
    }
  }

  @Test(
    arguments: [
      (200, [:], 10, 0..<10, true), (404, [:], 10, 0..<10, true),
      (200, ["Content-Range": "bytes 3-7/10"], 5, 0..<5, true),
      (206, ["Content-Range": "bytes 3-7/10"], 5, 3..<8, false),
      (206, ["Content-Range": "bytes 0-9/10"], 10, 0..<10, true),
    ] as [(Int, HTTP.Fields, Int, Range<Int>, Bool)])
  func knowsTheStoredEntries(_ status: Int, _ fields: HTTP.Fields, count: Int, _ offsets: Range<Int>, isComplete: Bool)
    throws
  {
    let content = try #require(PartialContent(HTTP.ResponseHead(status: status, fields: fields), count: count))
    #expect(content.extent.offsets == offsets && content.isComplete == isComplete)
  }

  @Test(
    arguments: [
      ([:], 5), (["Content-Range": "bytes 3-7/*"], 5), (["Content-Range": "bytes 3-7/10"], 4),
      (["Content-Range": "bytes 3-7/10"], 6),
      (["Content-Range": "items 3-7/10"], 5), (["Content-Range": "bytes */10"], 0),
    ] as [(HTTP.Fields, Int)])
  func refusesAPartWithoutAPlace(_ fields: HTTP.Fields, count: Int) {
    #expect(PartialContent(HTTP.ResponseHead(status: 206, fields: fields), count: count) == nil)
  }

  private func answerOf(
    _ fields: HTTP.Fields, from response: HTTP.Response, method: String = "GET"
  ) throws -> PartialContent.Answer {
    let content = try #require(PartialContent(response.head, count: response.body.count))
    return content.answer(to: .testing(fields, method: method), now: received)
  }

  private func answer(_ fields: HTTP.Fields, from response: HTTP.Response, method: String = "GET") throws -> Expected {
    switch try answerOf(fields, from: response, method: method) {
    case .whole: .whole
    case .missing: .missing
    case .unsatisfiable: .unsatisfiable
    case .part(_, let place): .part(String(decoding: response.body[place], as: UTF8.self))
    }
  }
}
