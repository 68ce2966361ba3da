import CacheBase
import Testing

struct URLPartsTests {
  @Test func allParts() throws {
    let url = try #require(URLParts("HTTPS://me:pass@word@Example.com:8443/a/b?c=d?e#f?g"))
    #expect(url.scheme == "https")
    #expect(url.userInfo == "me:pass@word")
    #expect(url.host == "Example.com")
    #expect(url.port == 8443)
    #expect(url.authority == "Example.com:8443")
    #expect(url.path == "/a/b")
    #expect(url.query == "c=d?e")
  }

  @Test(arguments: [
    ("http://h", "h", ""), ("http://h:/x", "h", "/x"), ("//[::1]:80/", "[::1]:80", "/"), ("http:///x", nil, "/x"),
    ("http://:80/", nil, "/"), ("mailto:a@b", nil, "a@b"), ("/a:b", nil, "/a:b"), ("a/b", nil, "a/b"), ("", nil, ""),
    ("http://h/\u{338}@evil/", "h", "/\u{338}@evil/"), ("http://h:00080/", "h:80", "/"),
  ])
  func authorityAndPath(_ text: String, _ authority: String?, _ path: String) throws {
    let url = try #require(URLParts(text))
    #expect(url.authority == authority)
    #expect(url.path.utf8.elementsEqual(path.utf8))
  }

  @Test(arguments: [
    ":a", "1http://h/", "http://h h/", "http://h\\x/", "http://[::1/", "http://[a]b/", "http://h:8a/",
    "http://h:65536/",
    "http://h:1\u{301}/", "http://h/a\tb", "http://h/a\r", "http://h/?\n", "http://h/\u{7F}", "http://h/#\0",
    "http://good\\@evil/", "http://u:p\\q@h/",
  ])
  func malformed(_ text: String) { #expect(URLParts(text) == nil) }
}
