import CacheBase
import Testing

/// Digits, hexadecimal digits and percent-encoding.
struct EncodingTests {
  @Test(arguments: [("0", 0), ("007", 7), ("9223372036854775808", .max)] as [(String, Int)])
  func digits(_ text: String, _ number: Int) { #expect(Digits.number(text) == number) }

  @Test(arguments: ["", "+1", "-1", "1 ", "1\u{301}", "\u{661}", "1a"])
  func otherDigits(_ text: String) { #expect(Digits.number(text) == nil) }

  @Test func digitsHaveAWidth() {
    #expect(Digits.text(7, width: 3) == "007")
    #expect(Digits.text(1234, width: 3) == "1234")
    #expect(Hexadecimal.text(UInt64(0xAB)) == "00000000000000ab")
    #expect(Hexadecimal.text(UInt8.max) == "ff")
  }

  @Test(arguments: [
    ("00ab", 0xAB), ("fFfF", 0xFFFF), ("", nil), ("+0ab", nil), ("0ab", nil), ("000ab", nil), ("00ag", nil),
  ])
  func hexadecimalDigits(_ text: String, _ number: UInt16?) {
    #expect(Hexadecimal.number(text.utf8, as: UInt16.self) == number)
  }

  @Test func everyByteIsEncodedOrUnreserved() {
    for byte in UInt8.min...UInt8.max {
      let character = String(decoding: [byte], as: UTF8.self)
      guard byte < 0x80 else { continue }
      let isKept = byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte)
      #expect(PercentEncoding.isUnreserved(byte) == isKept)
      let code = "%" + Hexadecimal.text(byte).uppercased()
      #expect(PercentEncoding.text(character) == (isKept ? character : code))
      #expect(PercentEncoding.decoded(code[...]) == [byte])
    }
  }

  /// RFC 3986, sections 6.2.2.1 and 6.2.2.2. A code is decoded once.
  @Test(arguments: [
    ("http://h/~a", "http://h/~a"), ("http://h/%7Ea%7e", "http://h/~a~"), ("/%e2%82%Ac", "/%E2%82%AC"),
    ("/%2F%3f%25", "/%2F%3F%25"), ("/%2541%61", "/%2541a"), ("/%zz%4%", "/%zz%4%"), ("?%2B+%20", "?%2B+%20"),
  ])
  func equalURLsHaveOneForm(_ url: String, _ normal: String) {
    #expect(PercentEncoding.normalized(url) == normal)
    #expect(PercentEncoding.normalized(normal) == normal)
  }

  @Test func charactersAreEncodedAsUTF8() {
    #expect(PercentEncoding.ascii([0x2F, 0x25, 0xE9, 0x7F]) == "/%%E9\u{7F}")

    #expect(PercentEncoding.text("a é/😀") == "a%20%C3%A9%2F%F0%9F%98%80")
    #expect(PercentEncoding.path("/a b?é;%41") == "/a%20b%3F%C3%A9;%2541")
    #expect(PercentEncoding.completed("/a b?%41%4", isQuery: true) == "/a%20b?%41%254")
    #expect(PercentEncoding.decoded("%41%4%zz%") == Array("A%4%zz%".utf8))
    var bytes = Array("x=".utf8)
    PercentEncoding.append("a&b", to: &bytes)
    #expect(bytes == Array("x=a%26b".utf8))
  }
}
