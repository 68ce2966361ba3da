internal import StorageSPI

/// Reads entries before their turn, many at once, if the engine is `BatchReading`; otherwise each in its turn.
struct ReadAhead {
  /// The most entries that are read at once.
  static let maximumEntries = 256
  /// The most entries that are read at once if their sizes are not known.
  static let maximumOfUnknownSize = 32
  /// The most bytes of payloads that are read at once; a larger entry is read alone.
  static let maximumBytes = 4 << 20

  private let engine: any StorageEngine
  private let maximumCount: Int
  private var reader: (any BatchReading)?
  private var expected: ArraySlice<EntrySummary> = []
  private var results: [CacheKey: Result<ReadEntry?, CacheError>] = [:]

  /// - Parameter sizesAreKnown: whether the entries to expect are those of `engine`, and not those of another store under
  ///   the same keys.
  init(_ engine: any StorageEngine, sizesAreKnown: Bool = true) {
    self.engine = engine
    maximumCount = sizesAreKnown ? Self.maximumEntries : Self.maximumOfUnknownSize
  }

  /// Expects that `entries` are read next, most of them and in this order, instead of those expected before.
  mutating func expect(_ entries: [EntrySummary]) {
    // A store that is opened late has its reader only then.
    reader = engine.batchReader
    (expected, results) = (reader == nil ? [] : entries[...], [:])
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
    while keys.count < maximumCount, let next = expected.first,
      keys.isEmpty || bytes + next.payloadBytes <= Self.maximumBytes
    {
      expected.removeFirst()
      // A damaged store may list a key twice.
      if keys.last == next.key { continue }
      keys.append(next.key)
      bytes += next.payloadBytes
    }
    do throws(CacheError) {
      results = Dictionary(zip(keys, try await reader.read(keys))) { first, _ in first }
    } catch {
      // Reading them one by one tells which of them it is.
      guard error.isOfData else { throw error }
      results = [:]
    }
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
