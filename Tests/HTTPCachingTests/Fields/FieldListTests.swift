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
