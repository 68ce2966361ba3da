import Testing

@testable import HTTPCaching

/// RFC 9213, section 2.1; RFC 8941, sections 3.2 and 4.2.2.
struct TargetedCacheControlTests {
  @Test(arguments: [
    "max-age=60", "max-age=60, public", "public,max-age=60", "public\t,  max-age=60", "max-age=60;x=1;y",
    "max-age=60; x=\"a,b;c\"", "x=\"a, b; c\", max-age=60", "x=\"a\\\"b\", max-age=60",
    "x=(a b \"c, d\");q=1, max-age=60",
    "x=:YWJj:, max-age=60", "x=?1, max-age=60", "x=1.5, max-age=60", "x=*a/b:c, max-age=60", "x=-15, max-age=60",
    "*x=a, max-age=60", "max-age=1, max-age=60", "max-age=60, x_y-z.*1=2", "x=(), max-age=60",
  ])
  func understands(_ value: String) {
    let control = CacheControl(targeted: ["CDN-Cache-Control": value])
    #expect(control?.seconds("max-age") == .seconds(60), "\(value)")
  }

  @Test(arguments: [
    "", " ", ",", "max-age=60,", ",max-age=60", "max-age=60,,public", "max-age=60, &&&&&", "max-age =60", "max-age= 60",
    "Max-Age=60", "max-age=60 public", "1=2", "x=", "x=\"a", "x=a\"b\"", "x=(a", "x=(a,b)", "x=:a", "x=?2", "x=?",
    "x=--1",
    "x=1.", "x=.5", "x=1e5", "x=0x10", "x=1.2345", "x=1234567890123456", "x=1234567890123.5", "x=\"\\a\"", "x=\"é\"",
    "x=a b", "max-age=60;", "max-age=60;X", "x=:a b:", "é=1", "x=(a)b", "x=(\"a\"\"b\")",
  ])
  func ignoresMalformedValues(_ value: String) {
    #expect(CacheControl(targeted: ["CDN-Cache-Control": value]) == nil, "\(value)")
  }

  @Test func ignoresMissingFields() {
    #expect(CacheControl(targeted: ["Cache-Control": "max-age=60"]) == nil)
  }

  @Test func readsLinesAsOneList() {
    let control = CacheControl(targeted: ["CDN-Cache-Control": "no-store", "cdn-cache-control": "max-age=60"])
    #expect(control?.contains("no-store") == true)
    #expect(control?.seconds("max-age") == .seconds(60))
  }

  /// A value of another type than the directive's is ignored.
  @Test(arguments: [
    "max-age=\"60\"", "max-age=60.0", "max-age=a", "max-age", "max-age=(60)", "max-age=:YWJj:", "max-age=-1",
  ])
  func aWrongTypeIsNotANumberOfSeconds(_ value: String) {
    let control = CacheControl(targeted: ["CDN-Cache-Control": value])
    #expect(control?.contains("max-age") == true && control?.seconds("max-age") == nil, "\(value)")
  }

  @Test(
    arguments: [
      ("private", [], true), ("private=?1", [], true), ("private=?0", nil, false),
      ("private=\"a, b\"", ["a", "b"], true),
      ("private=?0, private", [], true), ("private, private=?0", nil, false), ("private;x=\"a\"", [], true),
    ] as [(String, [String]?, Bool)])
  func aDirectiveIsAFlagOrAListOfNames(_ value: String, _ names: [String]?, isThere: Bool) {
    let control = CacheControl(targeted: ["CDN-Cache-Control": value])
    #expect(control?.fieldNames("private") == names)
    #expect(control?.contains("private") == isThere)
  }
}
