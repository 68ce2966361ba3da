internal import CacheBase
internal import EngineAPI

/// All bytes of payloads, every field of metadata and every key come back exactly, also from an opened store.
enum ValueChecks {
  static let all: [ConformanceCheck] = [
    payloads("bytes") {
      [[], [0], [255], [65], [10], [32], Array((0...255).reversed())] + (0...255).map { [$0] } + invalidUTF8
    },
    payloads("text") { (texts + jsonTexts).map { Array($0.utf8) } },
    payloads("sizes") { noise((0..<50).map { $0 * 6 } + boundarySizes + [1 << 20]) },
    payloads("64-mebibytes-text") {
      [Sample.payload(count: 64 << 20, repeating: Array("{\"name\": \"Zürich\"}\n".utf8))]
    },
    payloads("64-mebibytes-binary") { noise([64 << 20]) },
    metadata("times", "any times, even in an unusual order") { times },
    metadata("content-types", "any content type, even none") { contentTypes },
    // `Sample.metadata` makes the checksum of the payload the complement of the other one.
    metadata("checksums", "any two checksums of 64 bits") { checksums.map { Sample.metadata($0) } },
    metadata("attributes", "attributes of any name, value and number") { attributes.map(with) },
    keys("characters", "every character alone, and those that mean something somewhere") {
      printable.map { "a/\($0)" } + cities(punctuation)
    },
    keys("path-like", "texts that a file system takes for another path") { cities(paths) },
    keys("namespaces", "namespaces alike, long, or like an engine's own names") {
      namespaces.flatMap { ["\($0)/x", "\($0)/a/x"] }
    },
    keys("lengths", "around the limits of engines, and the longest") {
      let lengths = Array(440...455) + Array(480...530) + [1_024, 2_000, 4_095, 4_096, 16_383, CacheKey.maximumLength]
      return lengths.flatMap { cities([k($0 - 7), k($0 - 8) + "a"]) }
    },
    keys("long-and-alike", "long ones that differ late, and short ones among them") { cities(alike) },
  ]

  private static func payloads(
    _ name: String, _ payloads: @escaping @Sendable () -> [[UInt8]]
  ) -> ConformanceCheck {
    check("payload-\(name)", "payloads come back byte by byte: \(name)") {
      payloads().enumerated().map { ("cities/\($0)", Entry(payload: $1, metadata: Sample.metadata(UInt64($0)))) }
    }
  }

  private static func metadata(
    _ name: String, _ summary: String, _ metadata: @escaping @Sendable () -> [EntryMetadata]
  ) -> ConformanceCheck {
    check("metadata-\(name)", "metadata comes back exactly, stored or updated: \(summary)") {
      metadata().enumerated().map { ("cities/\($0)", Entry(payload: [1, 2, 3], metadata: $1)) }
    }
  }

  private static func keys(
    _ name: String, _ summary: String, _ keys: @escaping @Sendable () -> [String]
  ) -> ConformanceCheck {
    check("keys-\(name)", "keys are kept apart and in order: \(summary)") {
      keys().enumerated().map { ($1, Sample.entry($0)) }
    }
  }

  /// A check that stores entries, and then updates the metadata of one half to that of the other half, which it removes.
  private static func check(
    _ name: String, _ summary: String, _ entries: @escaping @Sendable () -> [(String, Entry)]
  ) -> ConformanceCheck {
    ConformanceCheck(name, summary) { context in
      var engine = try await context.open()
      var stored: [CacheKey: Entry] = [:]
      for (text, entry) in entries() { stored[try CacheKey(text)] = entry }
      try await engine.put(stored.map { ($0, $1) })
      if context.has(.persistent) { engine = try await context.reopen(engine) }
      try await context.expectHolds(engine, stored)
      let keys = stored.keys.sorted()
      if keys.count == 1 { return }
      var batch = WriteBatch()
      for (key, other) in zip(keys, keys[(keys.count / 2)...]) {
        guard let entry = stored[key], let removed = stored.removeValue(forKey: other) else { continue }
        stored[key] = Entry(payload: entry.payload, metadata: removed.metadata)
        batch.update(key, metadata: removed.metadata, from: entry.metadata.checksum)
        batch.remove(other)
      }
      try await engine.apply(batch)
      try await context.expectHolds(engine, stored)
    }
  }

  private static func noise(_ sizes: [Int]) -> [[UInt8]] {
    var generator = SeededGenerator(seed: 7)
    return sizes.map { Sample.payload(count: $0, repeating: generator.bytes(1_021)) }
  }

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
    [511, 512, 513, 2_000, 4_040, 8_191, 8_192, 8_193, 16_384, 65_535, 65_536, 65_537] + Array(4_080...4_100)

  private static let contentTypes: [EntryMetadata] = [
    "", " ", "text/html; charset=\"utf-8\"", "e\u{301}", "\u{E9}", "a\0b", "😀\n", String(repeating: "x", count: 70_000),
  ].map { contentType in
    var metadata = Sample.metadata()
    metadata.contentType = contentType
    return metadata
  }

  private static let checksums: [UInt64] = [
    0, 1, 255, 1 << 31, 1 << 32, 1 << 53, (1 << 53) + 1, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, .max - 1, .max,
  ]

  private static let times: [EntryMetadata] = {
    let instants = [Timestamp(milliseconds: 0), Timestamp(milliseconds: 1), Sample.start, .distantFuture]
    // These times are in the future: an expired entry can be dropped at once.
    let ends = [Sample.start.advanced(by: .milliseconds(1)), .distantFuture]
    return instants.flatMap { storedAt in
      instants.flatMap { freshUntil in
        ends.map {
          EntryMetadata(storedAt: storedAt, freshUntil: freshUntil, retainUntil: $0, contentType: "text/plain")
        }
      }
    }
  }()

  private static let attributes: [[String: String]] = {
    let texts = [
      "", " ", "\0", "a\0b", "\"quoted\"", "'", "line\nline\r\n", "\\", "{\"json\": true}", "=;,:&%", "e\u{301}",
      "\u{FEFF}", "\u{FFFF}", "😀", "null",
    ]
    let pairs = (0..<1_000).map { ("name-\($0)", "value \($0)") }
    let large = String(repeating: "0123456789", count: 10_000)
    return texts.flatMap { name in texts.map { [name: $0] } }
      + [
        [:], Dictionary(uniqueKeysWithValues: pairs), ["large": large], [large: ""],
        ["a": "1", "A": "2", "a ": "3", "": "4", "a\0": "5"], ["etag": "", "etag2": "etag"], ["storedAt": "1"],
      ]
  }()

  @Sendable private static func with(_ attributes: [String: String]) -> EntryMetadata {
    var metadata = Sample.metadata()
    metadata.attributes = attributes
    return metadata
  }

  private static func cities(_ texts: [String]) -> [String] { texts.map { "cities/\($0)" } }

  private static let alike: [String] =
    (0..<60).map { "\(k(600))/\($0)" } + (1..<20).map { k(600) + String(repeating: "~", count: $0) }
    + (0..<30).map { "\(k(400))\($0)\(k(700))" }
    + ["j", "k", "kk", "l", k(1_000), "\(k(1_000))a", k(500), "\(k(500))n", "k/", "~"]

  private static func k(_ count: Int) -> String { String(repeating: "k", count: count) }

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
