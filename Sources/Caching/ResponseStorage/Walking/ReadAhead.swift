internal import StorageSPI

/// Reads entries before their turn, many at once, if the engine is `BatchReading`; otherwise each in its turn.
struct ReadAhead {
  /// The most entries that are read at once.
  static let maximumEntries = 256
  /// How many bytes of payloads are read at once, in bytes; a larger entry is read alone.
  static let maximumBytes = 4 << 20

  private let engine: any StorageEngine
  private let reader: (any BatchReading)?
  private var expected: ArraySlice<EntrySummary> = []
  private var results: [CacheKey: Result<ReadEntry?, CacheError>] = [:]

  init(_ engine: any StorageEngine) { (self.engine, reader) = (engine, engine.batchReader) }

  /// Expects that `entries` are read next, most of them and in this order, instead of those expected before.
  mutating func expect(_ entries: [EntrySummary]) {
    if reader != nil { (expected, results) = (entries[...], [:]) }
  }

  /// Does what the engine's `read(_:_:)` does. An entry that was expected is given as it was at some time since then.
  mutating func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if let reader, results[key] == nil, let index = expected.firstIndex(where: { $0.key == key }) {
      expected = expected[index...]
      try await readNext(by: reader)
    }
    guard let result = results.removeValue(forKey: key) else { return try await engine.read(key, body) }
    guard let entry = try result.get() else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  /// Reads the first of the expected entries, and as many more as are read at once.
  private mutating func readNext(by reader: any BatchReading) async throws(CacheError) {
    var (keys, bytes) = ([CacheKey](), 0)
    while keys.count < Self.maximumEntries, let next = expected.first,
      keys.isEmpty || bytes + next.payloadBytes <= Self.maximumBytes
    {
      keys.append(expected.removeFirst().key)
      bytes += next.payloadBytes
    }
    results = Dictionary(uniqueKeysWithValues: zip(keys, try await reader.read(keys)))
  }

  /// The metadata under `key`, once the entry's checksum has been verified; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is not as it was written, or the engine's failure.
  mutating func verifiedMetadata(_ key: CacheKey) async throws(CacheError) -> EntryMetadata? {
    try await read(key) { bytes, metadata throws(CacheError) in
      try metadata.verify(key: key, payload: bytes)
      return metadata
    }
  }
}
