import Testing

@testable import HTTPCaching

struct URLReferenceTests {
  /// RFC 3986, section 5.4, without fragments, for a base with the scheme http.
  @Test(arguments: [
    ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
    ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
    ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"),
    ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
    ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
    (".g", "/b/c/.g"),
    ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"),
    ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
    ("g?y/../x", "/b/c/g?y/../x"), ("g#s/./x", "/b/c/g"), ("g#s/../x", "/b/c/g"),
  ])
  func resolves(_ reference: String, _ path: String) {
    #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == "http://a\(path)")
  }

  @Test(arguments: [
    ("//g", "http://g/"), ("//g/x?y", "http://g/x?y"), ("http://h", "http://h/"), ("https://h/x", "https://h/x"),
    ("HTTP://Example.COM/A", "http://example.com/A"), ("http://h:80/x", "http://h/x"),
    ("https://h:443/x", "https://h/x"),
    ("http://h:8080/x", "http://h:8080/x"), ("http://h:443/x", "http://h:443/x"), ("http://u:p@h/x", "http://h/x"),
    ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("/a%2Fb?c=%20", "http://a/a%2Fb?c=%20"),
    ("http://[::1]/", "http://[::1]/"), ("http://h:/x", "http://h/x"), ("http://a@b@c/", "http://c/"),
    ("http://127.0.0.1", "http://127.0.0.1/"), ("http://h_h/a:b//c", "http://h_h/a:b//c"), ("//g:80", "http://g/"),
    // Characters that must not occur are encoded; existing codes stay.
    ("http://h/é ü?ö ä", "http://h/%C3%A9%20%C3%BC?%C3%B6%20%C3%A4"), ("x y#z", "http://a/b/c/x%20y"),
    ("http://h/a[b]?c[d]=e|f", "http://h/a%5Bb%5D?c%5Bd%5D=e%7Cf"), ("http://h/%zz%7e?%", "http://h/%25zz%7e?%25"),
    ("http://ä.de/", "http://xn--4ca.de/"), ("//%C3%A4.de:80", "http://xn--4ca.de/"),
    ("http://h/?a?b/c", "http://h/?a?b/c"),
    ("http://h/a/../b/./c", "http://h/b/c"), ("//g/../x", "http://g/x"), ("http://h:080/", "http://h/"),
    ("http://h:65535/", "http://h:65535/"),
    // A combining mark after a syntax character does not hide it.
    ("http://good/\u{338}@evil/", "http://good/%CC%B8@evil/"), ("http://good?\u{301}@evil", "http://good/?%CC%81@evil"),
    ("http://h/#\u{FE0F}secret", "http://h/"),
    // Dot segments, also encoded ones; a query has none.
    ("http://h/a/%2e%2E/b", "http://h/b"), ("http://h/a/.%2e/%2E/b", "http://h/b"), ("%2e%2e/g", "http://a/b/g"),
    ("http://h/%2e%2e%2f/x", "http://h/%2e%2e%2f/x"), ("http://h/a/..?../b", "http://h/?../b"), ("/%2e", "http://a/"),
    ("http://h/...", "http://h/..."), ("http://h/%252e%252e/", "http://h/%252e%252e/"),
    ("http://h//../a", "http://h/a"),
    ("http://h?x", "http://h/?x"), ("http://h?", "http://h/?"), ("http://h/+ %2B", "http://h/+%20%2B"),
    // Bytes that are not text are sent as the bytes that they are: Latin-1, Shift-JIS, and half a character of UTF-8.
    ("/caf\u{F7E9}", "http://a/caf%E9"), ("/\u{F783}A\u{F783}\\", "http://a/%83A%83%5C"),
    ("/é\u{F7C3}", "http://a/%C3%A9%C3"),
    ("?q=\u{F7E9}", "http://a/b/c/d;p?q=%E9"), ("http://u\u{F7E9}@h/\u{F7E9}", "http://h/%E9"),
  ])
  func resolvesOtherAuthorities(_ reference: String, _ url: String) {
    #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == url)
  }

  @Test(arguments: [
    "g:h", "mailto:a@b", "http:", "http:///x", "urn:x:y", "http://[::1/x", ":a", "1http://h/",
    "http://h:8a/", "http://h h/", "http://h\\x/", "http://h|x/", " http://h/", "http://[a]b/", "///x",
    "http://h:65536/", "http://h:1\u{301}/", "http://h:99999999999999999999/", "http://a@\u{301}b/", "http://a／b/",
    "http://caf\u{F7E9}/", "//h%2F/", "/a\tb", "http://good\\@evil/", "http://[fe80::x]/",
  ])
  func refusesURLsWithoutAHost(_ reference: String) {
    #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == nil)
  }

  /// A relative path is resolved in any case, because it means nothing without that.
  @Test(arguments: [
    ("http://h/a/../b", "http://h/a/../b"), ("/%2e%2e/./b", "http://a/%2e%2e/./b"), ("../b", "http://a/b"),
    ("?q", "http://a/c/../d/e?q"), ("//h/..", "http://h/.."),
  ])
  func dotSegmentsAreKept(_ reference: String, _ url: String) {
    #expect(URLReference.resolve(reference, against: "http://a/c/../d/e", keepingDots: true) == url)
  }

  @Test func theImpliedPortIsThePortOfTheBase() {
    #expect(URLReference.resolve("//g:443/x", against: "https://a/") == "https://g/x")
    #expect(URLReference.resolve("//g:80/x", against: "https://a/") == "https://g:80/x")
  }

  @Test(arguments: ["", "b", "/b", "mailto:a@b"]) func refusesABaseWithoutAHost(_ base: String) {
    #expect(URLReference.resolve("x", against: base) == nil)
  }

  @Test(arguments: [
    ("http://a/x", "http://a/y?z", true), ("http://a/", "HTTP://A:80/", true), ("https://a/", "https://a:443/", true),
    ("http://u:p@a/", "http://a/", true), ("http://[::1]/", "http://[::1]:80/", true),
    ("http://a/", "https://a/", false), ("http://a/", "http://b/", false), ("http://a/", "http://a:8080/", false),
    ("http://a/", "http://a.b/", false), ("http://127.1/", "http://127.0.0.1/", false),
    ("http://ä/", "http://XN--4CA/", true), ("http://[::1]/", "http://[0::1]/", true),
    ("http://a:443/", "https://a/", false), ("/x", "/x", false), ("", "", false),
  ])
  func comparesOrigins(_ left: String, _ right: String, isSame: Bool) {
    #expect(URLReference.isSameOrigin(left, right) == isSame)
    #expect(URLReference.isSameOrigin(right, left) == isSame)
  }
}
