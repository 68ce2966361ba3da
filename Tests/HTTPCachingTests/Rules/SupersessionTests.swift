import Testing

@testable import HTTPCaching

/// RFC 9111, sections 4.3.3 and 4.3.5: the effect of a response that is not stored on the stored one.
struct SupersessionTests {
  private func supersession(
    _ status: Int, _ fields: HTTP.Fields = [:], method: String = "GET", of stored: HTTP.Fields = ["ETag": "\"v\""]
  ) throws -> HTTPCacheRules.Supersession {
    let rules = HTTPCacheRules.testing()
    return rules.supersession(
      of: try #require(rules.stored(stored)), by: HTTP.ResponseHead(status: status, fields: fields),
      to: .testing(method: method))
  }

  @Test(
    arguments: [
      ([200, 201, 203, 204, 299, 300, 301, 302, 303, 307, 308, 399, 404, 410], .removed),
      ([400, 401, 402, 403, 406, 409, 411, 413, 414, 415, 417, 418, 422, 426, 428, 431, 451, 499], .stale),
      // About a condition or range, or a failure that passes, or of a proxy.
      ([100, 103, 304, 405, 407, 408, 412, 416, 421, 425, 429, 500, 501, 502, 503, 504, 511, 599], .none),
    ] as [([Int], HTTPCacheRules.Supersession)])
  func theStatusDecides(_ statuses: [Int], _ expected: HTTPCacheRules.Supersession) throws {
    for status in statuses {
      #expect(try supersession(status) == expected, "\(status)")
      // No new content has arrived.
      #expect(try supersession(status, method: "HEAD") == (expected == .removed ? .stale : expected), "HEAD \(status)")
    }
  }

  /// A part says nothing about the rest, unless its validator is another one.
  @Test(
    arguments: [
      (["ETag": "\"v\""], ["ETag": "\"v\""], .none), (["ETag": "\"v\""], ["ETag": "\"w\""], .removed),
      (["ETag": "\"v\""], [:], .stale), ([:], [:], .stale), ([:], ["ETag": "\"v\""], .removed),
      (["Last-Modified": "a"], ["Last-Modified": "a"], .none),
      (["Last-Modified": "a"], ["Last-Modified": "b"], .removed),
      (["ETag": "\"v\"", "Last-Modified": "a"], ["ETag": "\"v\"", "Last-Modified": "b"], .removed),
    ] as [(HTTP.Fields, HTTP.Fields, HTTPCacheRules.Supersession)])
  func thePartsValidatorDecides(
    _ stored: HTTP.Fields, _ part: HTTP.Fields, _ expected: HTTPCacheRules.Supersession
  ) throws {
    #expect(try supersession(206, part, of: stored) == expected)
  }

  /// A HEAD describes the complete content of which a part is stored.
  @Test(
    arguments: [
      (200, ["ETag": "\"v\"", "Content-Length": "10"], true), (200, ["ETag": "\"v\""], true),
      (200, ["ETag": "\"v\"", "Content-Length": "5"], false), (200, ["ETag": "\"w\"", "Content-Length": "10"], false),
      (206, ["ETag": "\"v\""], false), (404, ["ETag": "\"v\""], false),
    ] as [(Int, HTTP.Fields, Bool)])
  func aHeadDescribesAPart(_ status: Int, _ fields: HTTP.Fields, _ expected: Bool) throws {
    let rules = HTTPCacheRules.testing()
    let part: HTTP.Fields = ["ETag": "\"v\"", "Content-Range": "bytes 0-4/10", "Content-Length": "5"]
    let stored = try #require(rules.stored(part, status: 206))
    #expect(rules.describes(HTTP.ResponseHead(status: status, fields: fields), stored) == expected)
  }
}
