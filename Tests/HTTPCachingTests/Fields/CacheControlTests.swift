import Testing

@testable import HTTPCaching

struct CacheControlTests {
  @Test(arguments: [
    (["max-age=60"], SecondsArgument.valid(.seconds(60))), (["MaX-aGe=60"], .valid(.seconds(60))),
    (["max-age=\"60\""], .valid(.seconds(60))), (["max-age=0060"], .valid(.seconds(60))),
    (["public, max-age=60"], .valid(.seconds(60))), (["public", "max-age=60"], .valid(.seconds(60))),
    ([",, ,max-age=60 ,"], .valid(.seconds(60))), (["max-age=60, max-age=10"], .valid(.seconds(60))),
    (["max-age=60", "max-age=10"], .valid(.seconds(60))), (["max-age=99999999999"], .valid(.seconds(2_147_483_648))),
    (["x=\"max-age=1\", max-age=60"], .valid(.seconds(60))), (["max-age=60, x=\"a, max-age=1\""], .valid(.seconds(60))),
    (["x=\"a\\\", max-age=1\", max-age=60"], .valid(.seconds(60))),
    ([], .absent), ([""], .absent), (["max-age2=60"], .absent), (["x-max-age=60"], .absent), (["max-age =60"], .absent),
    (["max-age"], .malformed), (["max-age="], .malformed), (["max-age=\"\""], .malformed),
    (["max-age= 60"], .malformed),
    (["max-age='60'"], .malformed), (["max-age=-60"], .malformed), (["max-age=+60"], .malformed),
    (["max-age=60.0"], .malformed), (["max-age=60s"], .malformed), (["max-age=a60"], .malformed),
    (["max-age=abc, max-age=60"], .malformed), (["max-age=\"60"], .malformed), (["max-age=٦٠"], .malformed),
  ])
  func readsSeconds(_ lines: [String], _ expected: SecondsArgument) {
    #expect(CacheControl(lines).seconds("max-age") == expected)
  }

  @Test(arguments: [
    (["no-store"], true), (["No-StOrE"], true), (["no-store=1"], true), (["a, no-store"], true), (["no-store "], true),
    (["a", "no-store"], true), (["x=\"no-store\""], false), (["no-stored"], false), (["no store"], false), ([], false),
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

  @Test func readsTheLinesOfAMessage() {
    let fields: HTTPFields = ["cache-control": "public", "Other": "no-store", "CACHE-CONTROL": "max-age=5"]
    let control = CacheControl(fields)
    #expect(control.contains("public") && !control.contains("no-store") && !control.isEmpty)
    #expect(control.seconds("max-age").duration == .seconds(5))
    #expect(CacheControl([:] as HTTPFields).isEmpty)
  }
}
