internal import EngineSupport
internal import StorageSPI

/// All bytes come back exactly.
enum PayloadChecks {
  static let all = tables.map { name, payloads in
    ConformanceCheck("payload-\(name)", "payloads come back byte by byte: \(name)") { context in
      try await roundTrip(payloads(context), context)
    }
  }

  private static let tables: [(String, @Sendable (ConformanceContext) -> [[UInt8]])] = [
    ("tiny", { _ in [[], [0], [255], [65], [10], [32]] }),
    ("every-byte", { _ in [Array(0...255), Array((0...255).reversed())] + (0...255).map { [$0] } }),
    ("invalid-utf8", { _ in invalidUTF8 }),
    ("text", { _ in texts.map { Array($0.utf8) } }),
    ("json", { _ in jsonTexts.map { Array($0.utf8) } }),
    ("random", { context in randomPayloads(context) }),
    ("page-boundaries", { context in boundarySizes.map { sized($0, context) } }),
    ("one-mebibyte", { context in [sized(1 << 20, context)] }),
    (
      "64-mebibytes-text", { _ in [Sample.payload(count: 64 << 20, repeating: Array("{\"name\": \"Zürich\"}\n".utf8))] }
    ),
    ("64-mebibytes-binary", { context in [sized(64 << 20, context)] }),
  ]

  /// Stray continuation bytes, overlong forms, surrogates, code points beyond the last, and truncated sequences.
  private static let invalidUTF8: [[UInt8]] = [
    [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
    [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF, 0xFE], [0xE2, 0x82],
    [0x41, 0xC3], [0xF0, 0x9F, 0x98], [0x22, 0x80, 0x22],
  ]

  /// Text that careless storage changes: NUL, control characters, line ends, byte order marks, decomposed and composed
  /// letters, escapes, noncharacters, and text that looks like encoded binary data.
  private static let texts = [
    "\0", "a\0b", "\0\0\0", "\r\n", "\n", "\r", "\t", " leading and trailing ", "\u{FEFF}text", "text\u{FEFF}",
    "\u{FEFF}", "e\u{301}", "\u{E9}", "\u{1100}\u{1161}", "\u{AC00}", "\u{212B}", "\u{2028}\u{2029}", "\u{FFFD}",
    "\u{FFFE}\u{FFFF}", "\u{10FFFF}", "😀👩‍👩‍👧", "\u{1}\u{1F}\u{7F}\u{80}\u{9F}", "\\u0041\\n\\\\", "\"'`$%\\/",
    "base64:AAAA", "data:;base64,AAAA", "AAAA", "<plist>&amp;</plist>", "'; DROP TABLE entries; --",
  ]

  /// JSON that changes when it is parsed and written again.
  private static let jsonTexts = [
    "{\"b\":1,\"a\":1.0}", "{\"a\":1,\"a\":2}", "[1,  2]\n", "1e400", "-0", "1.0", "12345678901234567890123456789",
    "0.1000000000000000055511151231257827", "\"\\u0041\\/\"", "\"\\ud800\"", "null", "true", "", " ", "{}", "[]",
    "{\"a\":", String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000),
  ]

  private static let boundarySizes =
    [511, 512, 513, 2_000, 4_040, 8_191, 8_192, 8_193, 16_384, 65_535, 65_536, 65_537]
    + Array(4_080...4_100)

  private static func sized(_ count: Int, _ context: ConformanceContext) -> [UInt8] {
    var generator = context.generator()
    return Sample.payload(count: count, repeating: generator.bytes(1_021))
  }

  private static func randomPayloads(_ context: ConformanceContext) -> [[UInt8]] {
    var generator = context.generator()
    return (0..<50).map { _ in
      let count = Int.random(in: 0...300, using: &generator)
      return generator.bytes(count)
    }
  }

  private static func roundTrip(_ payloads: [[UInt8]], _ context: ConformanceContext) async throws {
    var engine = try await context.open()
    let keys = try Sample.keys(payloads.count)
    let entries = zip(keys, payloads).enumerated().map { number, pair in
      (key: pair.0, entry: Entry(payload: pair.1, metadata: Sample.metadata(checksum: UInt64(number))))
    }
    try await engine.put(entries)
    for (key, entry) in entries { try expectEqual(try await engine.entry(key), entry, at: key) }
    try await engine.expectStatistics(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.entry) }))
    guard context.subject.capabilities.contains(.persistent) else { return }
    engine = try await context.reopen(engine)
    for (key, entry) in entries { try expectEqual(try await engine.entry(key), entry, at: key) }
  }
}
