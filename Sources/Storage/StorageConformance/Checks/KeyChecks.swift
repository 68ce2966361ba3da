internal import EngineSupport
internal import StorageSPI

/// Every key is distinct from all others, and keys are in order.
enum KeyChecks {
  static let all = [
    check("one-byte", "every character alone", oneByte),
    check("punctuation", "all characters that mean something somewhere", punctuation),
    check("case", "letters that differ in case only", letterCase),
    check("path-like", "what a file system would take for another path", pathLike),
    check("namespaces", "namespaces alike, long, or like an engine's own names", namespaces),
    check("lengths-around-limits", "lengths around the limits of engines") { try lengths(Array(480...530)) },
    check("longest", "the longest keys there are") { try lengths([1_024, 2_000, 4_095, 4_096, 16_383, 16_384]) },
    check("long-shared-prefix", "many long keys with 600 bytes in common", sharedPrefix),
    check("long-differing-early", "long keys that differ in the middle only", differingInTheMiddle),
    check("long-and-short", "short keys among long ones", longAndShort),
  ]

  private static func check(
    _ name: String, _ summary: String, _ keys: @escaping @Sendable () throws -> [CacheKey]
  ) -> ConformanceCheck {
    ConformanceCheck("keys-\(name)", "keys are kept apart and in order: \(summary)") { context in
      try await distinct(keys(), context)
    }
  }

  private static let printable = (0x21...0x7E).map { String(UnicodeScalar(UInt8($0))) }

  private static func oneByte() throws -> [CacheKey] { try printable.map { try CacheKey("a/\($0)") } }

  private static func punctuation() throws -> [CacheKey] {
    let texts = [
      "%", "%%", "_", "__", "a%", "a_", "ab", "*", "?", "[a]", "'", "''", "\"", "\\", "\\\\", "\\0", "%00", "%2F",
    ]
    return try (texts + [printable.joined(), printable.reversed().joined(), ";--", "$(x)", "a=1&b=2", "{}"]).map {
      try CacheKey("cities/\($0)")
    }
  }

  private static func letterCase() throws -> [CacheKey] {
    try ["a", "A", "aa", "aA", "Aa", "AA", "z", "Z", "[", "`"].map { try CacheKey("cities/\($0)") }
  }

  private static func pathLike() throws -> [CacheKey] {
    try [".", "..", "../x", "../movies/x", "/", "//", "x/", "x//", "x", "x/.", "x/..", "./x", "~", "-x", "x.json"].map {
      try CacheKey("cities/\($0)")
    }
  }

  private static func namespaces() throws -> [CacheKey] {
    let longest = String(repeating: "n", count: CacheKey.maximumNamespaceLength)
    let names = [
      "a", "a0", "a1", "aa", "ab", "b", "cities", "citiesa", "con", "data", "entries", "entry", "index", "keys", "lock",
      "main", "meta", "metadata", "nul", "sqlite", "sqlite1", "store", "table", "temp", "version", longest,
      longest.dropLast() + "m",
    ]
    return try names.flatMap { [try CacheKey("\($0)/x"), try CacheKey("\($0)/a/x")] }
  }

  private static func lengths(_ lengths: [Int]) throws -> [CacheKey] {
    try lengths.flatMap { [try Sample.key(length: $0), try Sample.key(length: $0, suffix: "a")] }
  }

  private static func sharedPrefix() throws -> [CacheKey] {
    let prefix = try Sample.key(length: 600).text
    return try (0..<60).map { try CacheKey("\(prefix)/\($0)") }
      + (0..<20).map { number in
        try CacheKey(prefix + String(repeating: "~", count: number))
      }
  }

  private static func differingInTheMiddle() throws -> [CacheKey] {
    let (head, tail) = (String(repeating: "h", count: 400), String(repeating: "t", count: 700))
    return try (0..<30).map { try CacheKey("cities/\(head)\($0)\(tail)") }
  }

  private static func longAndShort() throws -> [CacheKey] {
    let long = String(repeating: "m", count: 1_000)
    return try ["l", "m", "mm", "n", "\(long)", "\(long)a", "\(long.prefix(500))", "\(long.prefix(500))n", "m/", "~"]
      .map {
        try CacheKey("cities/\($0)")
      }
  }

  private static func distinct(_ keys: [CacheKey], _ context: ConformanceContext) async throws {
    var engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in keys.enumerated() { entries[key] = Sample.entry(number) }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await engine.expectHolds(entries)
    if context.subject.capabilities.contains(.persistent) { engine = try await context.reopen(engine) }
    var batch = WriteBatch()
    for (number, key) in entries.keys.sorted().enumerated() where number.isMultiple(of: 2) {
      batch.remove(key)
      entries[key] = nil
    }
    try await engine.apply(batch)
    try await engine.expectHolds(entries)
  }
}
