internal import EngineSupport
internal import StorageSPI

/// Metadata comes back exactly, in every field, by read and by scan, and after reopening the store.
enum MetadataChecks {
  static let all = [
    check("times", "any times, also in an unusual order", times),
    check("content-types", "any content type, also none", contentTypes),
    check("checksums", "any checksum of 64 bits", checksums),
    check("attribute-texts", "attributes of any name and value", attributeTexts),
    check("many-attributes", "a thousand attributes, and one of 100,000 bytes", manyAttributes),
    check("similar-attributes", "attributes whose names are alike", similarAttributes),
    ConformanceCheck("metadata-replaced", "no field of an overwritten entry is left behind", replaced),
  ]

  private static func check(
    _ name: String, _ summary: String, _ table: @escaping @Sendable () -> [EntryMetadata]
  ) -> ConformanceCheck {
    ConformanceCheck("metadata-\(name)", "metadata comes back exactly: \(summary)") { context in
      try await roundTrip(table(), context)
    }
  }

  private static func times() -> [EntryMetadata] {
    let instants = [Timestamp(milliseconds: 0), Timestamp(milliseconds: 1), Sample.start, .distantFuture]
    return instants.flatMap { storedAt in
      instants.flatMap { freshUntil in
        // These times are in the future: an expired entry may be dropped at once.
        [Sample.start.advanced(by: .milliseconds(1)), .distantFuture].map { retainUntil in
          EntryMetadata(storedAt: storedAt, freshUntil: freshUntil, retainUntil: retainUntil, contentType: "text/plain")
        }
      }
    }
  }

  private static func contentTypes() -> [EntryMetadata] {
    let long = String(repeating: "x", count: 70_000)
    return ["", " ", "text/html; charset=\"utf-8\"", "e\u{301}", "\u{E9}", "a\0b", "😀\n", long].map { contentType in
      var metadata = Sample.metadata()
      metadata.contentType = contentType
      return metadata
    }
  }

  private static func checksums() -> [EntryMetadata] {
    [0, 1, 255, 1 << 31, 1 << 32, 1 << 53, (1 << 53) + 1, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, .max - 1, .max]
      .map { Sample.metadata(checksum: $0) }
  }

  private static func attributeTexts() -> [EntryMetadata] {
    let texts = [
      "", " ", "\0", "a\0b", "\"quoted\"", "'", "line\nline\r\n", "\\", "{\"json\": true}", "=;,:&%", "e\u{301}",
      "\u{FEFF}", "\u{FFFF}", "😀", "null",
    ]
    return texts.flatMap { name in texts.map { [name: $0] } }.map(metadata)
  }

  private static func manyAttributes() -> [EntryMetadata] {
    let pairs = (0..<1_000).map { ("name-\($0)", "value \($0)") }
    let large = String(repeating: "0123456789", count: 10_000)
    return [[:], Dictionary(uniqueKeysWithValues: pairs), ["large": large], [large: ""]].map(metadata)
  }

  private static func similarAttributes() -> [EntryMetadata] {
    [["a": "1", "A": "2", "a ": "3", "": "4", "a\0": "5"], ["etag": "", "etag2": "etag"], ["storedAt": "1"]].map(
      metadata)
  }

  @Sendable private static func metadata(_ attributes: [String: String]) -> EntryMetadata {
    var metadata = Sample.metadata()
    metadata.attributes = attributes
    return metadata
  }

  private static func roundTrip(_ table: [EntryMetadata], _ context: ConformanceContext) async throws {
    var engine = try await context.open()
    let keys = try Sample.keys(table.count)
    let entries = Dictionary(uniqueKeysWithValues: zip(keys, table.map { Entry(payload: [1, 2, 3], metadata: $0) }))
    try await engine.put(keys.compactMap { key in entries[key].map { (key, $0) } })
    try await engine.expectHolds(entries)
    guard context.subject.capabilities.contains(.persistent) else { return }
    engine = try await context.reopen(engine)
    try await engine.expectHolds(entries)
  }

  private static func replaced(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    let rich = Entry(payload: [1], metadata: metadata(["a": "1", "b": "2", "c": "3"]))
    var poor = Entry(payload: [1], metadata: metadata(["b": "4"]))
    try await engine.put(key, rich)
    try await engine.put(key, poor)
    try await engine.expectHolds([key: poor])
    poor = Entry(payload: [1], metadata: metadata([:]))
    try await engine.put(key, poor)
    try await engine.expectHolds([key: poor])
  }
}
