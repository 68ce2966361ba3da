import SeededNumbers
import Testing

@testable import HTTPCaching

struct FieldListTests {
  @Test(
    arguments: [
      ("", []), (",", []), (" , ,\t", []), ("a", ["a"]), (" a ", ["a"]), ("a,b", ["a", "b"]),
      ("a, b ,\tc", ["a", "b", "c"]),
      ("a,,b,", ["a", "b"]), ("a b, c", ["a b", "c"]), ("\"a, b\", c", ["\"a, b\"", "c"]),
      ("x=\"a, \\\"b, c\", d", ["x=\"a, \\\"b, c\"", "d"]), ("\"a\\\\\", b", ["\"a\\\\\"", "b"]),
      ("a\\, b", ["a\\", "b"]),
      // A quotation mark that opens no string hides nothing.
      ("\"a, b", ["\"a", "b"]), ("a, \"b, c\\\", d", ["a", "\"b", "c\\\"", "d"]),
      ("\"a\", \"b, c", ["\"a\"", "\"b", "c"]),
      ("a\", b\", c", ["a\", b\"", "c"]), ("é, ü", ["é", "ü"]), ("👩‍👩‍👧, b", ["👩‍👩‍👧", "b"]),
    ] as [(String, [String])])
  func splitsAtCommasOutsideOfQuotedStrings(_ value: String, _ members: [String]) {
    #expect(FieldList.members(value).map(String.init) == members)
  }

  @Test(arguments: [("Accept, User-Agent", ["accept", "user-agent"]), ("*", ["*"]), ("", [])] as [(String, [String])])
  func readsNames(_ value: String, _ names: [String]) {
    #expect(FieldList.names(value) == names)
  }

  /// Splitting a joined list returns its members, whatever surrounds them.
  @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
  func membersComeBack(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let members = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
        generator.pick(["a", "b=1", "\"q\"", "c=\"x, y\"", "d=\"\\\"\"", "e=\"\\\\\"", "f g"])
      }
      let value = members.map { generator.pick(["", " ", "\t"]) + $0 + generator.pick(["", "  "]) }
        .joined(separator: generator.pick([",", ", ", ",,", " , , "]))
      #expect(FieldList.members(value).map(String.init) == members, "seed \(seed): \(value)")
    }
  }
}

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

struct DeltaSecondsTests {
  @Test(arguments: [
    ("0", 0), ("1", 1), ("007", 7), ("3600", 3_600), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648),
    ("2147483649", 2_147_483_648), ("9223372036854775807", 2_147_483_648), ("9223372036854775808", 2_147_483_648),
    ("340282366920938463463374607431768211456", 2_147_483_648), (String(repeating: "9", count: 5_000), 2_147_483_648),
    (String(repeating: "0", count: 100) + "5", 5),
  ])
  func readsANumberAndTakesAGreaterOneForTheGreatest(_ text: String, _ seconds: Int) {
    #expect(DeltaSeconds.duration(text) == .seconds(seconds))
  }

  @Test(arguments: ["", " ", "-1", "+1", "1.0", "1e3", "0x10", "1 ", " 1", "abc", "1,2", "٣", "१", "１", "1\u{0}", "∞"])
  func refusesTextThatIsNotANumber(_ text: String) {
    #expect(DeltaSeconds.duration(text) == nil)
  }
}
