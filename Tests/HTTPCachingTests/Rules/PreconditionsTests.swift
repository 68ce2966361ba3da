import Testing

@testable import HTTPCaching

/// RFC 9110, section 13; RFC 9111, section 4.3.2.
struct PreconditionsTests {
  enum Expected: Sendable { case pass, notModified, forward }

  private static func outcome(
    _ request: HTTP.Fields, _ stored: HTTP.Fields, status: Int = 200, method: String = "GET"
  ) throws -> Preconditions.Outcome {
    let stored = StoredHead(
      head: HTTP.ResponseHead(status: status, fields: stored), storedAt: received, freshUntil: received,
      retainUntil: received)
    return Preconditions(.testing(request, method: method)).outcome(for: stored, now: received + .seconds(60))
  }

  private static func expected(_ outcome: Preconditions.Outcome) -> Expected {
    switch outcome {
    case .pass: .pass
    case .notModified: .notModified
    case .forward: .forward
    }
  }

  /// For a response with the tag "v", changed 100 seconds before it was made.
  @Test(
    arguments: [
      ([:], .pass), (["If-None-Match": "\"v\""], .notModified), (["If-None-Match": "W/\"v\""], .notModified),
      (["If-None-Match": "\"w\""], .pass), (["If-None-Match": "\"w\", \"v\""], .notModified),
      (["If-None-Match": "\"w\"", "if-none-match": "\"v\""], .notModified), (["If-None-Match": "*"], .notModified),
      (["If-None-Match": "\"v, w\""], .pass), (["If-None-Match": "v"], .pass), (["If-None-Match": ""], .pass),
      (["If-Modified-Since": date(-100)], .notModified), (["If-Modified-Since": date(-99)], .notModified),
      (["If-Modified-Since": date(-101)], .pass), (["If-Modified-Since": date(9_999)], .notModified),
      (["If-Modified-Since": "foo"], .pass), (["If-Modified-Since": "0"], .pass),
      (["If-Modified-Since": "Saturday, 21-Nov-26 10:00:00 GMT"], .notModified),
      (["If-None-Match": "\"w\"", "If-Modified-Since": date()], .pass),
      (["If-None-Match": "\"v\"", "If-Modified-Since": date(-999)], .notModified),
      (["If-Match": "\"v\""], .pass), (["If-Match": "*"], .pass), (["If-Match": "\"w\""], .forward),
      (["If-Match": "W/\"v\""], .forward),
      (["If-Match": "\"w\", \"v\""], .pass), (["If-Unmodified-Since": date(-100)], .pass),
      (["If-Unmodified-Since": date(-101)], .forward), (["If-Unmodified-Since": "foo"], .pass),
      (["If-Match": "\"v\"", "If-Unmodified-Since": date(-999)], .pass),
      (["If-Match": "\"w\"", "If-None-Match": "\"v\""], .forward),
      (["If-Match": "\"v\"", "If-None-Match": "\"v\""], .notModified),
    ] as [(HTTP.Fields, Expected)])
  func evaluates(_ request: HTTP.Fields, _ expected: Expected) throws {
    let stored: HTTP.Fields = ["ETag": "\"v\"", "Last-Modified": date(-100), "Date": date()]
    for (method, status) in [("GET", 200), ("HEAD", 200), ("GET", 206)] {
      let outcome = try Self.outcome(request, stored, status: status, method: method)
      #expect(Self.expected(outcome) == expected, "\(method), \(status)")
    }
    #expect(Preconditions(.testing(request)).isEmpty == request.lines.isEmpty)
  }

  @Test(arguments: [404, 301, 204, 500], ["If-None-Match", "If-Match"])
  func aFailureHasNoConditions(_ status: Int, _ name: String) throws {
    var request: HTTP.Fields = [:]
    request[name] = "*"
    #expect(try Self.outcome(request, ["ETag": "\"v\""], status: status) == .pass)
  }

  @Test func otherMethodsAreForTheOrigin() throws {
    #expect(try Self.outcome(["If-None-Match": "*"], ["ETag": "\"v\""], method: "PUT") == .pass)
  }

  /// The time that counts as the last change if Last-Modified is missing: `Date`, or the time of arrival.
  @Test(
    arguments: [
      (["Date": date(-50)], -50, true), (["Date": date(-50)], -51, false), ([:], 0, true), ([:], -1, false),
      (["Last-Modified": "foo", "Date": date(-50)], -50, true), (["Last-Modified": "foo"], -1, false),
    ] as [(HTTP.Fields, Int, Bool)])
  func findsTheLastChange(_ stored: HTTP.Fields, since seconds: Int, isSame: Bool) throws {
    let outcome = try Self.outcome(["If-Modified-Since": date(seconds)], stored)
    #expect(Self.expected(outcome) == (isSame ? .notModified : .pass))
  }

  @Test func aResponseWithoutATagMatchesOnlyTheStar() throws {
    #expect(Self.expected(try Self.outcome(["If-None-Match": "\"v\""], [:])) == .pass)
    #expect(Self.expected(try Self.outcome(["If-None-Match": "*"], [:])) == .notModified)
    #expect(Self.expected(try Self.outcome(["If-Match": "\"v\""], [:])) == .forward)
  }

  /// Section 15.4.5.
  @Test(
    arguments: [
      (
        [
          "Date": "d", "ETag": "\"v\"", "Cache-Control": "c", "Expires": "e", "Vary": "v", "Content-Location": "l",
          "A": "1",
          "Last-Modified": "m", "Content-Type": "t", "Content-Length": "5", "Content-Encoding": "x",
          "Content-Language": "en",
          "Content-Range": "bytes 0-4/5",
        ], ["Date", "ETag", "Cache-Control", "Expires", "Vary", "Content-Location", "A"]
      ),
      (["Last-Modified": "m", "Content-Type": "t"], ["Last-Modified"]),
    ] as [(HTTP.Fields, [String])])
  func aNotModifiedHeadHasTheFieldsThatACacheNeeds(_ stored: HTTP.Fields, _ names: [String]) throws {
    guard case .notModified(let head) = try Self.outcome(["If-None-Match": "*"], stored) else {
      Issue.record("modified")
      return
    }
    #expect(head.status == 304 && head.fields.lines.map(\.name) == names)
  }
}
