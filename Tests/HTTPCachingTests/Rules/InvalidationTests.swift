import Testing

@testable import HTTPCaching

/// RFC 9111, section 4.4.
struct InvalidationTests {
  @Test(
    arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "WHATEVER", "get"], [200, 201, 204, 299, 301, 303, 399])
  func anUnsafeMethodInvalidates(_ method: String, _ status: Int) {
    #expect(invalidated(method, status) == ["http://example.com/x"])
  }

  @Test(arguments: ["POST", "DELETE"], [100, 199, 400, 404, 500, 503, 599])
  func aFailureInvalidatesNothing(_ method: String, _ status: Int) {
    #expect(invalidated(method, status, ["Location": "/y"]) == [])
  }

  @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE"])
  func aSafeMethodInvalidatesNothing(_ method: String) {
    #expect(invalidated(method, 200, ["Location": "/y", "Content-Location": "/z"]) == [])
  }

  @Test(
    arguments: [
      (["Location": "/y"], ["/y"]), (["Content-Location": "/y?a=b"], ["/y?a=b"]),
      (["Location": "/y", "Content-Location": "/z"], ["/y", "/z"]), (["Location": "y#f"], ["/y"]),
      (["Location": "http://example.com/y"], ["/y"]), (["Location": "HTTP://EXAMPLE.com:80/y"], ["/y"]),
      (["Location": "//example.com/y"], ["/y"]), (["Location": "/x"], []), (["Content-Location": ""], []),
      (["Location": "https://example.com/y"], []), (["Location": "http://other.com/y"], []),
      (["Location": "http://example.com:8080/y"], []), (["Location": "http://example.com.evil.org/y"], []),
      (["Location": "http://example.com@evil.org/y"], []), (["Location": "mailto:a@example.com"], []),
      (["Location": "http://["], []),
      (["Location": "/y", "Content-Location": "/y"], ["/y"]), (["Location": "/%79"], ["/%79"]),
      (["Location": "/%e9", "Content-Location": "/%E9"], ["/%e9"]), (["Location": "/%78"], []),
      (["Location": "/caf\u{F7E9}"], ["/caf%E9"]), (["Content-Location": "/caf\u{F7E9}"], ["/caf%E9"]),
      (["Content-Location": "/y", "content-location": "/z"], ["/y", "/z"]), (["Location": "/a/%2e%2e/y"], ["/y"]),
    ] as [(HTTP.Fields, [String])])
  func namedURLsAreInvalidatedWithinTheOrigin(_ fields: HTTP.Fields, _ paths: [String]) {
    #expect(invalidated("POST", 201, fields) == (["/x"] + paths).map { "http://example.com\($0)" })
  }

  private func invalidated(_ method: String, _ status: Int, _ fields: HTTP.Fields = [:]) -> [String] {
    HTTPCacheRules.testing().invalidated(
      by: HTTP.ResponseHead(status: status, fields: fields), to: .testing(method: method))
  }
}
