import Testing

@testable import HTTPCaching

struct CacheControlTests {
  enum Argument: Sendable, Hashable {
    case absent, malformed
    case valid(Duration)
  }

  @Test(arguments: [
    (["max-age=60"], Argument.valid(.seconds(60))), (["MaX-aGe=60"], .valid(.seconds(60))),
    (["max-age=\"60\""], .valid(.seconds(60))), (["max-age=0060"], .valid(.seconds(60))),
    (["public, max-age=60"], .valid(.seconds(60))), (["public", "max-age=60"], .valid(.seconds(60))),
    ([",, ,max-age=60 ,"], .valid(.seconds(60))), (["max-age=60, max-age=10"], .valid(.seconds(60))),
    (["max-age=60", "max-age=10"], .valid(.seconds(60))), (["max-age=99999999999"], .valid(.seconds(2_147_483_648))),
    (["x=\"max-age=1\", max-age=60"], .valid(.seconds(60))), (["max-age=60, x=\"a, max-age=1\""], .valid(.seconds(60))),
    (["x=\"a\\\", max-age=1\", max-age=60"], .valid(.seconds(60))),
    ([], .absent), ([""], .absent), (["max-age2=60"], .absent), (["x-max-age=60"], .absent),
    (["max-age =60"], .malformed),
    (["max-age"], .malformed), (["max-age="], .malformed), (["max-age=\"\""], .malformed),
    (["max-age= 60"], .malformed),
    (["max-age='60'"], .malformed), (["max-age=-60"], .malformed), (["max-age=+60"], .malformed),
    (["max-age=60.0"], .malformed), (["max-age=60s"], .malformed), (["max-age=a60"], .malformed),
    (["max-age=abc, max-age=60"], .malformed), (["max-age=\"60"], .malformed), (["max-age=٦٠"], .malformed),
  ])
  func readsSeconds(_ lines: [String], _ expected: Argument) {
    let control = CacheControl(lines)
    #expect(control.contains("max-age") == (expected != .absent))
    if case .valid(let duration) = expected {
      #expect(control.seconds("max-age") == duration)
    } else {
      #expect(control.seconds("max-age") == nil)
    }
  }

  @Test(arguments: [
    (["no-store"], true), (["No-StOrE"], true), (["no-store=1"], true), (["a, no-store"], true), (["no-store "], true),
    (["a", "no-store"], true), (["x=\"no-store\""], false),
    // Malformed text hides no restriction.
    (["x=\"a, no-store"], true), (["x=\"a\\\", no-store"], true), (["x=\"", "no-store"], true), (["\"no-store"], true),
    (["x=\"a\"b, no-store"], true), (["x=\"a\"b, y=\"c, no-store\""], true), (["a\"b, no-store, c\"d"], true),
    (["x= \"a, no-store\""], true), (["x=\"y\\\", no-store=\"a\""], true), (["\"no-store\""], true),
    (["no-store\""], true),
    (["no-store;max-age=5"], true), (["no-store =1"], true), (["no-store\u{0}"], true), (["\u{0}no-store"], true),
    (["\u{A0}no-store\u{A0}"], true), (["\u{B}no-store"], true), (["no-store\tx"], true), ([";no-store"], true),
    (["x=\"a\" , no-store"], true), (["x=\"a\"\t,\"no-store\""], true),
    (["x=\"a\\\", no-store\""], false), (["x=\"a,\\\\\", no-store"], true), (["no-stored"], false),
    (["no store"], false), ([], false),
  ])
  func findsADirective(_ lines: [String], isThere: Bool) {
    #expect(CacheControl(lines).contains("no-store") == isThere)
  }

  @Test(
    arguments: [
      (["max-age=1"], nil), (["no-cache"], []), (["no-cache=\"Set-Cookie\""], ["set-cookie"]),
      (["no-cache=\"A, b ,C\""], ["a", "b", "c"]), (["no-cache=a"], ["a"]),
      (["no-cache=\"a\", no-cache=\"b\""], ["a", "b"]),
      (["no-cache=\"a\"", "no-cache"], []), (["no-cache, no-cache=\"a\""], []), (["no-cache=\"\""], []),
      (["no-cache="], []),
      (["no-cache=\"a\\b\""], ["ab"]),
    ] as [([String], [String]?)])
  func readsFieldNames(_ lines: [String], _ expected: [String]?) {
    #expect(CacheControl(lines).fieldNames("no-cache") == expected)
  }

  /// After malformed text only restrictions of the cache count, and a lifetime is none.
  @Test(arguments: ["x=\"a, ", "\", ", "x=\"a\"b, ", "a\"b\", "])
  func malformedTextAllowsNothing(_ start: String) {
    let control = CacheControl([start + "public, immutable, must-understand, max-age=60, private, stale-if-error=9"])
    #expect(!control.contains("public") && !control.contains("immutable") && !control.contains("must-understand"))
    #expect(control.contains("max-age") && control.seconds("max-age") == nil)
    #expect(!control.contains("stale-if-error") && control.seconds("stale-if-error") == nil)
    #expect(control.fieldNames("private") == [])
    let before = CacheControl(["public, max-age=60, " + start + "max-age=90, must-revalidate"])
    #expect(before.contains("public") && before.seconds("max-age") == .seconds(60))
    #expect(before.contains("must-revalidate"))
  }

  /// An argument that is not a list of names restricts the directive to nothing.
  @Test(arguments: [
    "no-cache=\"Set-Cookie", "no-cache=Set-Cookie\"", "no-cache=a b", "no-cache=\"a b\"", "no-cache=\"a\"b",
    "no-cache=\"a;b\"",
    "no-cache =\"a\"", "x=\"b, no-cache=\"a\"", "no-cache=,", "no-cache=\"",
  ])
  func aMalformedArgumentMeansTheWholeResponse(_ line: String) {
    #expect(CacheControl([line]).fieldNames("no-cache") == [])
  }

  /// A line with many quotation marks takes no longer than any other of its length.
  @Test func manyQuotationMarksAreReadOnce() {
    let line = String(repeating: "x=\"\\\",", count: 20_000)
    #expect(CacheControl([line + "no-store"]).contains("no-store"))
    #expect(FieldList.members(line + "b").last == "b")
  }

  @Test func readsTheLinesOfAMessage() {
    let fields: HTTP.Fields = ["cache-control": "public", "Other": "no-store", "CACHE-CONTROL": "max-age=5"]
    let control = CacheControl(fields)
    #expect(control.contains("public") && !control.contains("no-store"))
    #expect(control.seconds("max-age") == .seconds(5))
    #expect(!CacheControl([:] as HTTP.Fields).contains("public"))
  }
}
