import CachePresentation
import SeededNumbers
import Testing

struct TerminalTextTests {
  @Test(arguments: [
    ("plain é日🎬", "plain é日🎬", "plain é日🎬"), ("\u{1B}[2J", "\\u{1B}[2J", "\\u{1B}[2J"),
    ("a\r\nb\tc\rd", "a\\r\\nb\\tc\\rd", "a\nb\tc\\rd"),
    ("\u{7F}\u{9B}m\u{0}", "\\u{7F}\\u{9B}m\\u{0}", "\\u{7F}\\u{9B}m\\u{0}"),
    ("\u{202E}cod", "\\u{202E}cod", "\\u{202E}cod"), ("\u{2066}\u{2028}", "\\u{2066}\\u{2028}", "\\u{2066}\\u{2028}"),
    ("", "", ""),
  ])
  func escapes(_ text: String, _ line: String, _ block: String) {
    #expect(TerminalText.line(text) == line)
    #expect(TerminalText.block(text) == block)
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func neverEmitsWhatATerminalObeys(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = generator.text(upTo: 40)
    #expect(!TerminalText.line(text).unicodeScalars.contains(where: TerminalText.isHarmful), "seed \(seed)")
    let block = TerminalText.block(text).unicodeScalars
    #expect(!block.contains { TerminalText.isHarmful($0) && $0 != "\n" && $0 != "\t" }, "seed \(seed)")
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("🎬", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2),
    ("❤", 1), ("❤\u{FE0F}", 2), ("한글", 4), ("ｱ", 1), ("Ａ", 2), ("\u{200B}", 0), ("…·", 2), ("\u{AD}", 1), ("👍🏽", 2),
    ("䷀", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
  ])
  func width(_ text: String, _ width: Int) { #expect(DisplayWidth.width(text) == width) }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("abcdef", -1, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab cdef", 4, "ab…"),
    ("e\u{301}e\u{301}e", 2, "e\u{301}…"),
  ])
  func truncates(_ text: String, _ limit: Int, _ cut: String) {
    #expect(DisplayWidth.truncated(text, to: limit) == cut)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func neverExceedsTheLimit(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = TerminalText.line(generator.text(upTo: 40))
    let limit = Int.random(in: 0...30, using: &generator)
    let cut = DisplayWidth.truncated(text, to: limit)
    #expect(DisplayWidth.width(cut) <= limit || cut == text, "seed \(seed)")
    #expect(DisplayWidth.width(cut) <= max(limit, 0), "seed \(seed)")
  }
}
