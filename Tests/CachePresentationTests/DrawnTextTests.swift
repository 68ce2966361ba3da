import CachePresentation
import Testing

struct DrawnTextTests {
  @Test(
    arguments: [
      ("", 10, 0), ("\n", 10, 1), ("ab\n", 10, 1), ("0123456789\n", 10, 1), ("0123456789a\n", 10, 2),
      ("a\n\nb\n", 10, 3), ("01234567890123456789\n", 10, 2), ("012345678901234567890\nb\n", 10, 4),
      ("\u{1B}[1m0123456789\u{1B}[0m\n", 10, 1), ("日本語日本\n", 10, 1), ("日本語日本語\n", 10, 2),
      // A wide character that half fits goes to the next line: 3 + 3 + 1 of seven in lines of seven cells.
      ("日本語日本語日\n", 7, 3), ("e\u{301}e\u{301}\n", 2, 1), ("ab\n", 1, 2),
    ] as [(String, Int, Int)])
  func rows(_ text: String, _ width: Int, _ rows: Int) {
    #expect(DrawnText(text, on: .terminal(width: width, height: 24, hasColor: true)).rows == rows)
  }

  @Test(
    arguments: [
      (.terminal(width: 10, height: 3, hasColor: false), "\r\u{1B}[2A\u{1B}[Jnew\n"),
      (.terminal(width: 3, height: 4, hasColor: false), "\r\u{1B}[3A\u{1B}[Jnew\n"),
      (.terminal(width: 3, height: 3, hasColor: false), nil), (.terminal(width: 10, height: 2, hasColor: false), nil),
      (.terminal(width: 10, hasColor: false), nil), (.terminal(width: nil, height: 24, hasColor: false), nil),
      (.file, nil),
    ] as [(Screen, String?)])
  func replacement(_ screen: Screen, _ expected: String?) {
    let drawn = DrawnText("abcd\nb\n", on: screen)
    #expect(drawn.replacement(by: "new\n") == expected)
    #expect(drawn.isReplaceable == (expected != nil))
  }

  @Test func nothingIsReplacedWithoutMovingUp() {
    let drawn = DrawnText("", on: .terminal(width: 10, height: 3, hasColor: false))
    #expect(drawn.replacement(by: "new\n") == "\r\u{1B}[Jnew\n")
  }

  @Test(
    arguments: [
      (nil, "Page 1 of 243 · 6,057 cities · from cache\n"), (40, "Page 1 of 243 · 6,057 cities · from\ncache\n"),
      (20, "Page 1 of 243 ·\n6,057 cities · from\ncache\n"),
    ] as [(Int?, String)])
  func aStatusLineIsBrokenBetweenWords(width: Int?, text: String) {
    let line = StatusLine(["Page 1 of 243", "6,057 cities", "from cache"])
    #expect(line.line(on: .terminal(width: width, hasColor: false)) == text)
  }

  @Test(arguments: [
    (20, "Asking the origin ·…"), (80, "Asking the origin · Page 1"), (nil, "Asking the origin · Page 1"),
  ])
  func aStatusLineIsCut(width: Int?, text: String) {
    let line = StatusLine(["Asking the origin", "Page 1"])
    #expect(line.cut(to: .terminal(width: width, hasColor: false)) == text)
    #expect(line.cut(to: .terminal(width: width, hasColor: true)) == "\u{1B}[2m\(text)\u{1B}[0m")
  }
}
