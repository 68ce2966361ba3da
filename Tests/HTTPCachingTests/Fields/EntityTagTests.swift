import Testing

@testable import HTTPCaching

struct EntityTagTests {
  /// RFC 9110, section 8.8.3.2, with its table.
  @Test(arguments: [
    ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
    ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false), ("\"1\"", "W/\"1\"", false, true),
    ("\"\"", "\"\"", true, true), ("\"a\"", "\"A\"", false, false), ("abc", "abc", true, true),
    ("W/abc", "abc", false, true),
    ("w/\"1\"", "w/\"1\"", true, true), ("\"é\"", "\"é\"", true, true),
  ])
  func compares(_ left: String, _ right: String, isStrong: Bool, isWeak: Bool) {
    #expect(EntityTag(left).matchesStrongly(EntityTag(right)) == isStrong)
    #expect(EntityTag(right).matchesStrongly(EntityTag(left)) == isStrong)
    #expect(EntityTag(left).matchesWeakly(EntityTag(right)) == isWeak)
    #expect(EntityTag(right).matchesWeakly(EntityTag(left)) == isWeak)
  }

  @Test(
    arguments: [
      ("", []), ("\"a\"", ["\"a\""]), ("\"a\", W/\"b\" ,, \"c\"", ["\"a\"", "\"b\"", "\"c\""]),
      ("\"a,b\", \"c\"", ["\"a,b\"", "\"c\""]),
      // A backslash is an ordinary character.
      ("\"a\\\", \"b\"", ["\"a\\\"", "\"b\""]), ("a, b", ["a", "b"]),
    ] as [(String, [String])])
  func readsAList(_ value: String, _ tags: [String]) {
    #expect(EntityTag.list(value).map(\.opaque) == tags)
  }
}
