internal import EngineAPI

/// All bytes of payloads and every field of metadata come back exactly, also from an opened store.
enum ValueChecks {
  static let all: [ConformanceCheck] = payloadChecks + metadataChecks + [replaced, everyField]

  private static let payloadChecks = payloads.map { name, payloads in
    table("payload-\(name)", "payloads come back byte by byte: \(name)") {
      payloads().enumerated().map { Entry(payload: $1, metadata: Sample.metadata(UInt64($0))) }
    }
  }

  private static let metadataChecks = metadata.map { name, summary, metadata in
    table("metadata-\(name)", "metadata comes back exactly: \(summary)") {
      metadata.map { Entry(payload: [1, 2, 3], metadata: $0) }
    }
  }

  private static func table(
    _ name: String, _ summary: String, _ entries: @escaping @Sendable () -> [Entry]
  ) -> ConformanceCheck {
    .script(name, summary, isRepeated: false, [.apply(entries().enumerated().map { .store("cities/\($0)", $1) })])
  }

  private static let replaced = ConformanceCheck.script(
    "metadata-replaced", "no field of an overwritten entry is left behind",
    [
      each([["a": "1", "b": "2", "c": "3"], ["b": "4"], [:]]) { attributes in
        [apply(.store("cities/a", Entry(payload: [1], metadata: with(attributes))))]
      }
    ])

  private static let everyField = ConformanceCheck.script(
    "update-every-field", "an update replaces every field of the metadata", isRepeated: false,
    [
      .apply(fields.indices.map { .put("cities/\($0)", $0) }),
      .apply(fields.enumerated().map { .renew("cities/\($0)", $1, from: .current) }),
    ])

  private static let fields = metadata.flatMap { $0.2 }

  private static let payloads: [(String, @Sendable () -> [[UInt8]])] = [
    (
      "bytes",
      { [[], [0], [255], [65], [10], [32], Array((0...255).reversed())] + (0...255).map { [$0] } + invalidUTF8 }
    ),
    ("text", { (texts + jsonTexts).map { Array($0.utf8) } }),
    ("sizes", { noise((0..<50).map { $0 * 6 } + boundarySizes + [1 << 20]) }),
    (
      "64-mebibytes-text",
      { [Sample.payload(count: 64 << 20, repeating: Array("{\"name\": \"Zürich\"}\n".utf8))] }
    ),
    ("64-mebibytes-binary", { noise([64 << 20]) }),
  ]

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

  private static let metadata: [(String, String, [EntryMetadata])] = [
    ("times", "any times, even in an unusual order", times),
    ("content-types", "any content type, even none", contentTypes),
    // `Sample.metadata` makes the checksum of the payload the complement of the other one.
    ("checksums", "any two checksums of 64 bits", checksums.map { Sample.metadata($0) }),
    (
      "attribute-texts", "attributes of any name and value",
      attributeTexts.flatMap { name in attributeTexts.map { with([name: $0]) } }
    ),
    ("many-attributes", "a thousand attributes, and one of 100,000 bytes", manyAttributes.map(with)),
    ("similar-attributes", "attributes whose names are alike", similarAttributes.map(with)),
  ]

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

  private static let manyAttributes: [[String: String]] = {
    let pairs = (0..<1_000).map { ("name-\($0)", "value \($0)") }
    let large = String(repeating: "0123456789", count: 10_000)
    return [[:], Dictionary(uniqueKeysWithValues: pairs), ["large": large], [large: ""]]
  }()

  private static let similarAttributes: [[String: String]] = [
    ["a": "1", "A": "2", "a ": "3", "": "4", "a\0": "5"], ["etag": "", "etag2": "etag"], ["storedAt": "1"],
  ]

  private static let times: [EntryMetadata] = {
    let instants = [Timestamp(milliseconds: 0), Timestamp(milliseconds: 1), Sample.start, .distantFuture]
    // These times are in the future: an expired entry may be dropped at once.
    let ends = [Sample.start.advanced(by: .milliseconds(1)), .distantFuture]
    return instants.flatMap { storedAt in
      instants.flatMap { freshUntil in
        ends.map {
          EntryMetadata(storedAt: storedAt, freshUntil: freshUntil, retainUntil: $0, contentType: "text/plain")
        }
      }
    }
  }()

  private static let attributeTexts = [
    "", " ", "\0", "a\0b", "\"quoted\"", "'", "line\nline\r\n", "\\", "{\"json\": true}", "=;,:&%", "e\u{301}",
    "\u{FEFF}", "\u{FFFF}", "😀", "null",
  ]

  @Sendable private static func with(_ attributes: [String: String]) -> EntryMetadata {
    var metadata = Sample.metadata()
    metadata.attributes = attributes
    return metadata
  }
}
