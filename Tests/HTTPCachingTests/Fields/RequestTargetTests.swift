import Testing

@testable import HTTPCaching

/// RFC 9110, section 7.1: the field Host says whose resource a request is for.
struct RequestTargetTests {
  @Test(
    arguments: [
      ("http://a.example/x?y", nil, "http://a.example/x?y", nil),
      ("http://a.example/x?y", "b.example", "http://b.example/x?y", "http://a.example"),
      ("http://a.example/x", "B.Example:8080", "http://b.example:8080/x", "http://a.example"),
      ("http://127.0.0.1:81/", "b.example:80", "http://b.example/", "http://127.0.0.1:81"),
      ("https://a.example/", "b.example:443", "https://b.example/", "https://a.example"),
      ("http://a.example", "[::1]:82", "http://[::1]:82/", "http://a.example"),
      // The server itself, in any spelling.
      ("http://a.example/", "a.example", "http://a.example/", nil),
      ("http://a.example/", "A.example:80", "http://a.example/", nil),
      ("http://a.example:81/", "a.example:81", "http://a.example:81/", nil),
      ("http://a.example/", "a.example:", "http://a.example/", nil),
      ("http://a.example:81/", "a.example", "http://a.example/", "http://a.example:81"),
      // The path is not another one for it.
      ("http://a.example/a/../%7e?b", "b.example", "http://b.example/a/../%7e?b", "http://a.example"),
    ] as [(String, String?, String, String?)])
  func hostNamesTheServer(url: String, host: String?, target: String, detour: String?) {
    let request = HTTP.Request(url: url, fields: host.map { ["host": $0] as HTTP.Fields } ?? [:])
    #expect(request.hasValidHost)
    #expect(request.target == target && request.detour == detour)
    if detour != nil { #expect(request.address(of: target) == (url == "http://a.example" ? "http://a.example/" : url)) }
  }

  @Test(arguments: [
    "", " ", "a b", "a/b", "a?b", "a#b", "user@a", "a:b", "a:99999", ":80", "a\\b", "a, b", "[::1", "[]x",
    "\u{e4}.example",
    "http://a",
  ])
  func urlsWithoutAServerAreInvalid(host: String) {
    let request = HTTP.Request(url: "http://a.example/", fields: ["Host": host])
    #expect(!request.hasValidHost)
    #expect(request.target == request.url && request.detour == nil)
  }

  @Test func twoHostsAreInvalid() {
    let request = HTTP.Request(url: "http://a.example/", fields: ["Host": "b.example", "HOST": "b.example"])
    #expect(!request.hasValidHost)
  }

  @Test func anUnsafeRequestInvalidatesWithinItsHost() {
    let request = HTTP.Request(method: "POST", url: "http://a.example/x", fields: ["Host": "b.example"])
    let head = HTTP.ResponseHead(
      status: 201, fields: ["Location": "/y", "Content-Location": "http://a.example/z"])
    #expect(
      HTTPCacheRules.testing().invalidated(by: head, to: request) == ["http://b.example/x", "http://b.example/y"])
  }
}
