internal import EngineAPI

/// Every key is distinct from all others, and keys are in order.
enum KeyChecks {
  static let all: [ConformanceCheck] = [
    check(
      "characters", "every character alone, and those that mean something somewhere",
      printable.map { "a/\($0)" } + cities(punctuation)),
    check("path-like", "texts that a file system takes for another path", cities(paths)),
    check(
      "namespaces", "namespaces alike, long, or like an engine's own names",
      namespaces.flatMap { ["\($0)/x", "\($0)/a/x"] }),
    check(
      "lengths", "around the limits of engines, and the longest",
      lengths(Array(440...455) + Array(480...530) + [1_024, 2_000, 4_095, 4_096, 16_383, CacheKey.maximumLength])),
    check(
      "long-and-alike", "long ones that differ late, and short ones among them",
      cities(alike)),
  ]

  private static func check(_ name: String, _ summary: String, _ keys: [String]) -> ConformanceCheck {
    .script(
      "keys-\(name)", "keys are kept apart and in order: \(summary)", isRepeated: false,
      [
        .apply(keys.enumerated().map { .put($1, $0) }), .reopen,
        .apply(Set(keys).sorted().enumerated().filter { $0.offset % 2 == 0 }.map { .remove($0.element) }),
      ])
  }

  private static func cities(_ texts: [String]) -> [String] { texts.map { "cities/\($0)" } }

  private static let alike: [String] =
    (0..<60).map { "\(k(600))/\($0)" } + (1..<20).map { k(600) + String(repeating: "~", count: $0) }
    + (0..<30).map { "\(k(400))\($0)\(k(700))" }
    + ["j", "k", "kk", "l", k(1_000), "\(k(1_000))a", k(500), "\(k(500))n", "k/", "~"]

  private static func k(_ count: Int) -> String { String(repeating: "k", count: count) }

  private static func lengths(_ lengths: [Int]) -> [String] {
    lengths.flatMap { length in cities([k(length - 7), k(length - 8) + "a"]) }
  }

  private static let printable = (0x21...0x7E).map { String(UnicodeScalar(UInt8($0))) }

  private static let punctuation: [String] =
    [
      "%", "%%", "_", "__", "a%", "a_", "ab", "*", "?", "[a]", "'", "''", "\"", "\\", "\\\\", "\\0", "%00", "%2F",
      ";--",
      "$(x)", "a=1&b=2", "{}", "a", "A", "aa", "aA", "Aa", "AA", "z", "Z", "[", "`",
    ] + [printable.joined(), printable.reversed().joined()]

  private static let paths = [
    ".", "..", "../x", "../movies/x", "/", "//", "x/", "x//", "x", "x/.", "x/..", "./x", "~", "-x", "x.json",
  ]

  private static let namespaces = [
    "a", "a0", "a1", "aa", "ab", "b", "cities", "citiesa", "con", "data", "entries", "entry", "index", "keys", "lock",
    "main", "meta", "metadata", "nul", "sqlite", "sqlite1", "store", "table", "temp", "version",
    String(repeating: "n", count: 32), String(repeating: "n", count: 31) + "m",
  ]
}
