import Testing

@testable import HTTPCaching

struct ServerNameTests {
  @Test(arguments: [
    ("", ""), ("Example.COM", "example.com"), ("h_h", "h_h"), ("a.b.", "a.b."), ("ex%61mple.com", "example.com"),
    ("xn--4ca.de", "xn--4ca.de"),
    // UTS 46 without transitional processing: the sharp s stays, case and width do not.
    ("ä.de", "xn--4ca.de"), ("Ä.DE", "xn--4ca.de"), ("a\u{308}.de", "xn--4ca.de"), ("%C3%A4.de", "xn--4ca.de"),
    ("faß.de", "xn--fa-hia.de"), ("ä。de", "xn--4ca.de"), ("ä.de.", "xn--4ca.de."), ("日本語.jp", "xn--wgv71a119e.jp"),
    ("ｅｘ.com", "ex.com"), ("\u{212A}.com", "k.com"), ("xn--4ca.ä", "xn--4ca.xn--4ca"),
    ("127.0.0.1", "127.0.0.1"), ("127.1", "127.1"), ("0x7F.1", "0x7f.1"), ("１２７.０.０.１", "127.0.0.1"),
    ("1.2.3.4.", "1.2.3.4."),
    ("[::1]", "[::1]"), ("[0:0:0:0:0:0:0:1]", "[::1]"), ("[2001:DB8::A]", "[2001:db8::a]"),
    ("[::ffff:7f00:1]", "[::ffff:127.0.0.1]"), ("[fe80::1%25Eth0]", "[fe80::1%25Eth0]"),
    ("[FE80::1%Eth0]", "[fe80::1%25Eth0]"),
  ])
  func hostsHaveOneForm(_ host: String, _ normal: String) {
    #expect(ServerName.normal(host[...]) == normal)
  }

  @Test(arguments: [
    // Syntax of a URL, percent-encoded or as a character that is mapped to it.
    "a%2Fb", "a%40b", "a%3A80", "a%00b", "a%20b", "a%25b", "a%zz", "%", "a%E9.de", "a;b", "a=b",
    "localhost／evil", "good＠evil", "good：80", "a％2fb", "a℀b", "a？b", "a＃b", "a＼b",
    // Texts that IDNA does not allow as a name.
    "\u{AD}", "\u{301}b", "-ä.de", "ab--ä.de", "ä..de", "。ä", "a..b", ".", ".a", "xn--zzzzz--.ä",
    String(repeating: "ä", count: 70), "ä." + String(repeating: "a.", count: 200),
    "[", "[]", "[a]", "[::1", "[1.2.3.4]", "[::1%]", "[::1%25]", "[::1%25a/b]", "[v1.a]", "[::1]]",
  ])
  func otherHostsAreRefused(_ host: String) {
    #expect(ServerName.normal(host[...]) == nil)
  }

  @Test(arguments: [
    ("http://u:ä@ä.de:1/ä?ä", "http://u:ä@xn--4ca.de:1/ä?ä"), ("//ä:1", "//xn--4ca:1"),
    ("http://A.de/ä", "http://A.de/ä"),
    ("http://a／b/", "http://a／b/"), ("HTTP://127.1/", "HTTP://127.1/"),
  ])
  func onlyTheHostBecomesASCII(_ url: String, _ ascii: String) {
    #expect(ServerName.inASCII(url) == ascii)
  }
}
