import CacheBase
import Testing

/// The search in texts.
struct TextSearchTests {
  @Test(arguments: [
    ("a key b", "key", "url", "a url b"), ("keykey", "key", "k", "kk"), ("kekey", "key", "x", "kex"),
    ("", "a", "b", ""),
    ("ab", "abc", "x", "ab"), ("aé", "é", "key", "akey"), ("aaa", "aa", "b", "ba"),
  ])
  func partsAreReplaced(text: String, part: String, other: String, expected: String) {
    #expect(text.replacing(part, by: other) == expected)
    #expect(text.holds(part) == (text != expected))
  }
}
