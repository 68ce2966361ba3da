import Testing

@testable import HTTPCaching

/// RFC 9111, section 4.3.
struct ValidationTests {
  static let modified = date(-5_000)

  @Test(
    arguments: [
      ([:], [:]), (["ETag": "\"v\""], ["If-None-Match": "\"v\""]), (["ETag": "W/\"v\""], ["If-None-Match": "W/\"v\""]),
      (["Last-Modified": modified], ["If-Modified-Since": modified]),
      (["Last-Modified": modified, "ETag": "\"v\""], ["If-None-Match": "\"v\"", "If-Modified-Since": modified]),
      (["ETag": "unquoted"], ["If-None-Match": "unquoted"]),
    ] as [(HTTP.Fields, HTTP.Fields)])
  func asksWithAllValidators(_ stored: HTTP.Fields, _ conditions: HTTP.Fields) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(stored))
    #expect(rules.conditions(on: stored) == conditions)
    #expect(stored.hasValidator == !conditions.lines.isEmpty)
  }

  /// Section 4.3.4: which stored response a 304 is about.
  @Test(
    arguments: [
      (["ETag": "\"v\""], ["ETag": "\"v\""], true), (["ETag": "\"v\""], ["ETag": "\"w\""], false),
      (["ETag": "W/\"v\""], ["ETag": "W/\"v\""], true), (["ETag": "W/\"v\""], ["ETag": "W/\"w\""], false),
      // Servers that compress weaken the tag of a 200, but forget to in the 304.
      (["ETag": "W/\"v\""], ["ETag": "\"v\""], true), (["ETag": "\"v\""], ["ETag": "W/\"v\""], true),
      (["ETag": "\"v\""], [:], true), (["Last-Modified": modified], [:], true), ([:], [:], true),
      (["Last-Modified": modified], ["ETag": "\"v\""], false), ([:], ["ETag": "\"v\""], false),
      (["Last-Modified": modified], ["Last-Modified": modified], true),
      (["Last-Modified": modified], ["Last-Modified": date(-4_000)], false),
      (["Last-Modified": "Saturday, 21-Nov-26 10:00:00 GMT"], ["Last-Modified": date()], true),
      (["ETag": "\"v\""], ["Last-Modified": modified], false),
      (["ETag": "\"v\"", "Last-Modified": modified], ["Last-Modified": modified], true),
      (["ETag": "\"v\"", "Last-Modified": modified], ["ETag": "\"v\"", "Last-Modified": date(-4_000)], true),
      // A 304 with another `Vary` does not say which values selected the stored response.
      (["ETag": "\"v\"", "Vary": "Accept"], ["ETag": "\"v\"", "Vary": "accept"], true),
      (["ETag": "\"v\"", "Vary": "Accept"], ["ETag": "\"v\""], true),
      (["ETag": "\"v\"", "Vary": "Accept"], ["ETag": "\"v\"", "Vary": "Accept, Accept-Language"], false),
      (["ETag": "\"v\""], ["ETag": "\"v\"", "Vary": "*"], false),
    ] as [(HTTP.Fields, HTTP.Fields, Bool)])
  func recognisesAConfirmation(_ stored: HTTP.Fields, _ confirmation: HTTP.Fields, isConfirmed: Bool) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(stored))
    #expect(rules.confirms(HTTP.ResponseHead(status: 304, fields: confirmation), stored) == isConfirmed)
  }

  /// Section 3.2: the changes by a confirmation.
  @Test(
    arguments: [
      (["A": "1"], [:], ["A": "1"]), (["A": "1"], ["A": "2"], ["A": "2"]),
      (["A": "1"], ["B": "2"], ["A": "1", "B": "2"]),
      (["A": "1", "a": "2"], ["A": "3"], ["A": "3"]), (["A": "1"], ["A": "2", "a": "3"], ["A": "2", "a": "3"]),
      (["Content-Type": "a"], ["Content-Type": "b"], ["Content-Type": "b"]),
      (["Content-MD5": "a"], ["Content-MD5": "b"], ["Content-MD5": "b"]),
      (["Set-Cookie": "a"], ["Set-Cookie": "b"], ["Set-Cookie": "b"]),
      (["Content-Length": "5"], ["Content-Length": "0"], ["Content-Length": "5"]),
      (["Content-Encoding": "gzip"], ["Content-Encoding": "br"], ["Content-Encoding": "gzip"]),
      (["Content-Range": "bytes 0-4/9"], ["Content-Range": "bytes 0-8/9"], ["Content-Range": "bytes 0-4/9"]),
      (["A": "1"], ["Connection": "a", "a": "2", "Keep-Alive": "1"], ["A": "1"]),
      (["A": "1", "B": "2", "C": "3"], ["D": "4", "b": "5"], ["A": "1", "b": "5", "C": "3", "D": "4"]),
      // The stored tag belongs to the stored bytes.
      (["ETag": "W/\"v\""], ["ETag": "\"v\""], ["ETag": "W/\"v\""]), ([:], ["ETag": "\"v\""], ["ETag": "\"v\""]),
      // The earlier age and date do not apply to a response that has just been confirmed.
      (["Age": "10", "Date": date(-10), "A": "1"], [:], ["A": "1"]), (["Age": "10"], ["Age": "3"], ["Age": "3"]),
      (["Date": date(-10)], ["Date": date()], ["Date": date()]),
      (
        ["Cache-Control": "no-cache=\"a\"", "B": "1"], ["A": "2", "B": "2"],
        ["Cache-Control": "no-cache=\"a\"", "B": "2"]
      ),
    ] as [(HTTP.Fields, HTTP.Fields, HTTP.Fields)])
  func isUpdated(_ stored: HTTP.Fields, by news: HTTP.Fields, _ expected: HTTP.Fields) throws {
    let rules = HTTPCacheRules.testing()
    let updated = rules.updated(
      try #require(rules.stored(stored)), by: HTTP.ResponseHead(status: 304, fields: news), requestTime: received,
      responseTime: received)
    let isDated = expected.contains("date")
    #expect(updated.head.fields == (isDated ? expected : HTTP.Fields(expected.lines + [.init("Date", date())])))
    #expect(updated.head.status == 200)
  }

  @Test func aSharedCacheDoesNotTakePrivateFieldsFromAConfirmation() throws {
    let rules = HTTPCacheRules.testing(isShared: true)
    let updated = rules.updated(
      try #require(rules.stored(["Cache-Control": "private=\"a\"", "A": "1"])),
      by: HTTP.ResponseHead(status: 304, fields: ["A": "2"]), requestTime: received, responseTime: received)
    #expect(updated.head.fields == ["Cache-Control": "private=\"a\"", "Date": date()])
  }

  /// A response with a lifetime of 60 seconds, confirmed after 100 seconds by a response that took 2 seconds.
  @Test(
    arguments: [
      ([:], 2, 58), (["Cache-Control": "max-age=10"], 2, 8), (["Cache-Control": "max-age=10", "Age": "4"], 6, 4),
      (["Date": date(95)], 5, 55), (["Cache-Control": "no-cache"], 2, -2), (["Expires": date(500)], 2, 58),
    ] as [(HTTP.Fields, Int, Int)])
  func freshnessBeginsAgain(_ confirmation: HTTP.Fields, age: Int, remaining: Int) throws {
    let rules = HTTPCacheRules.testing(staleIfError: 300)
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60", "Age": "50", "Date": date(-50)]))
    let updated = rules.updated(
      stored, by: HTTP.ResponseHead(status: 304, fields: confirmation), requestTime: received + .seconds(98),
      responseTime: received + .seconds(100))
    #expect(updated.storedAt == received + .seconds(100))
    #expect(updated.initialAge == .seconds(age))
    #expect(updated.freshUntil == received + .seconds(100 + remaining))
    #expect(updated.retainUntil == max(updated.freshUntil, updated.storedAt) + .seconds(300))
    #expect(updated.selector == stored.selector)
  }

  /// Section 4.3.5.
  @Test(
    arguments: [
      (200, [:], true), (200, ["ETag": "\"v\""], true), (200, ["ETag": "\"w\""], false),
      (200, ["ETag": "W/\"v\""], false),
      (200, ["Last-Modified": modified], true), (200, ["Last-Modified": date()], false),
      (200, ["Content-Length": "5"], true),
      (200, ["Content-Length": "6"], false), (200, ["ETag": "\"v\"", "Content-Length": "6"], false), (404, [:], false),
      (200, ["A": "b"], true), (200, ["Vary": "Accept"], false),
    ] as [(Int, HTTP.Fields, Bool)])
  func aHeadDescribesTheStoredResponse(_ status: Int, _ head: HTTP.Fields, describes: Bool) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(
      rules.stored(["ETag": "\"v\"", "Last-Modified": Self.modified, "Content-Length": "5"]))
    #expect(rules.describes(HTTP.ResponseHead(status: status, fields: head), stored) == describes)
  }
}
