import FetchVocabulary
import SeededNumbers
import Testing

@testable import HTTPCaching

/// RFC 9111, section 3.4; RFC 9110, section 15.3.7.3.
struct CombiningTests {
  private static let content = "0123456789"

  private static func part(_ offsets: Range<Int>, _ fields: HTTP.Fields = ["ETag": "\"v\""]) -> HTTP.Response {
    var fields = fields
    fields["Content-Range"] = "bytes \(offsets.lowerBound)-\(offsets.upperBound - 1)/\(content.count)"
    fields["Content-Length"] = String(offsets.count)
    return HTTP.Response(
      HTTP.ResponseHead(status: 206, fields: fields), body: Array(Array(content.utf8)[offsets]))
  }

  private func combined(_ old: HTTP.Response, _ new: HTTP.Response) throws -> (StoredHead, String)? {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(old.head.fields, status: old.head.status))
    let result = rules.combined(stored, old.body, with: new, now: received + .seconds(5))
    return result.map { ($0.0, String(decoding: $0.1, as: UTF8.self)) }
  }

  @Test(arguments: [
    (0..<5, 5..<10, 0..<10), (5..<10, 0..<5, 0..<10), (0..<5, 3..<8, 0..<8), (3..<8, 0..<5, 0..<8),
    (2..<4, 4..<6, 2..<6),
    (4..<6, 2..<4, 2..<6), (2..<8, 4..<6, 2..<8), (4..<6, 2..<8, 2..<8), (2..<4, 2..<4, 2..<4), (0..<9, 1..<10, 0..<10),
  ])
  func joinsAdjacentParts(_ old: Range<Int>, _ new: Range<Int>, _ union: Range<Int>) throws {
    let (head, text) = try #require(try combined(Self.part(old), Self.part(new)))
    #expect(text == String(decoding: Array(Self.content.utf8)[union], as: UTF8.self))
    let isComplete = union.count == Self.content.count
    #expect(head.head.status == (isComplete ? 200 : 206))
    #expect(head.head.fields["content-length"] == String(union.count))
    #expect(head.head.fields["content-range"] == (isComplete ? nil : ContentRange(union, of: 10).text))
    #expect(PartialContent(head.head, count: text.utf8.count)?.extent.offsets == union)
  }

  @Test(arguments: [(0..<3, 4..<10), (4..<10, 0..<3), (0..<1, 9..<10)])
  func doesNotJoinOverAGap(_ old: Range<Int>, _ new: Range<Int>) throws {
    #expect(try combined(Self.part(old), Self.part(new)) == nil)
  }

  @Test(
    arguments: [
      (["ETag": "\"v\""], ["ETag": "\"v\""], true), (["ETag": "\"v\""], ["ETag": "\"w\""], false),
      // Bytes that are coded otherwise are others. A part need not repeat the coding.
      (["ETag": "\"v\""], ["ETag": "\"v\"", "Content-Encoding": "gzip"], false),
      (["ETag": "\"v\"", "Content-Encoding": "gzip"], ["ETag": "\"v\"", "Content-Encoding": "br"], false),
      (["ETag": "\"v\"", "Content-Encoding": "gzip"], ["ETag": "\"v\"", "Content-Encoding": "br, gzip"], false),
      (["ETag": "\"v\"", "Content-Encoding": "gzip"], ["ETag": "\"v\"", "Content-Encoding": "GZIP"], true),
      (["ETag": "\"v\"", "Content-Encoding": "gzip"], ["ETag": "\"v\""], true),
      (["ETag": "W/\"v\""], ["ETag": "W/\"v\""], false), (["ETag": "\"v\""], ["ETag": "W/\"v\""], false),
      ([:], [:], false),
      (["ETag": "\"v\""], [:], false), ([:], ["ETag": "\"v\""], false),
      (["Last-Modified": date(-99), "Date": date()], ["Last-Modified": date(-99), "Date": date()], true),
      (["Last-Modified": date(-99), "Date": date()], ["Last-Modified": date(-98), "Date": date()], false),
      (["Last-Modified": date(-99), "Date": date(-99)], ["Last-Modified": date(-99), "Date": date(-99)], false),
      (
        ["ETag": "\"v\"", "Last-Modified": date(-99), "Date": date()], ["Last-Modified": date(-99), "Date": date()],
        false
      ),
    ] as [(HTTP.Fields, HTTP.Fields, Bool)])
  func joinsTheSameContentOnly(_ old: HTTP.Fields, _ new: HTTP.Fields, isSame: Bool) throws {
    let result = try combined(Self.part(0..<5, old), Self.part(5..<10, new))
    #expect((result != nil) == isSame)
  }

  @Test func takesTheNewHeaderFields() throws {
    let old: HTTP.Fields = ["ETag": "\"v\"", "A": "1", "B": "1", "Cache-Control": "max-age=60"]
    let new: HTTP.Fields = ["ETag": "\"v\"", "A": "2", "Cache-Control": "max-age=10"]
    let (head, _) = try #require(try combined(Self.part(0..<5, old), Self.part(5..<10, new)))
    #expect(head.head.fields["a"] == "2" && head.head.fields["b"] == "1")
    #expect(head.storedAt == received + .seconds(5))
    #expect(head.remainingFreshness(at: received + .seconds(5)) == .seconds(10))
  }

  @Test func aCompleteResponseTakesNewBytes() throws {
    let old = HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["ETag": "\"v\""]), body: Array(Self.content.utf8))
    let (head, text) = try #require(try combined(old, Self.part(2..<4)))
    #expect(head.head.status == 200 && text == Self.content)
  }

  @Test func nothingElseIsJoined() throws {
    let whole = HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["ETag": "\"v\""]), body: Array(Self.content.utf8))
    #expect(try combined(Self.part(0..<5), whole) == nil)
    var short = Self.part(5..<10)
    short.body.removeLast()
    #expect(try combined(Self.part(0..<5), short) == nil)
    var other = Self.part(5..<10)
    other.head.fields["Content-Range"] = "bytes 5-9/11"
    #expect(try combined(Self.part(0..<5), other) == nil)
  }

  /// Parts in any order are combined to the complete content, as long as each touches the parts before it.
  @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
  func partsAreCombinedToTheCompleteResponse(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let first = Int.random(in: 0..<10, using: &generator)
      var (extent, text) = (first..<Int.random(in: first + 1...10, using: &generator), "")
      var response = Self.part(extent)
      for _ in 0..<20 {
        let start = Int.random(in: 0..<10, using: &generator)
        let next = start..<Int.random(in: start + 1...10, using: &generator)
        let touches = next.lowerBound <= extent.upperBound && extent.lowerBound <= next.upperBound
        let result = try combined(response, Self.part(next))
        try #require((result != nil) == touches, "seed \(seed): \(extent), \(next)")
        guard let result else { continue }
        extent = min(extent.lowerBound, next.lowerBound)..<max(extent.upperBound, next.upperBound)
        text = result.1
        response = HTTP.Response(result.0.head, body: Array(text.utf8))
        try #require(text == String(decoding: Array(Self.content.utf8)[extent], as: UTF8.self), "seed \(seed)")
      }
    }
  }
}
