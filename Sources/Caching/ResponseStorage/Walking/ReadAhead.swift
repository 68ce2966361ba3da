internal import StorageSPI

/// Reads entries ahead of time, many in one call, if the engine is `BatchReading`. With any other engine it reads each one
/// when it is asked for.
struct ReadAhead {
  /// The most entries to read in one call.
  static let maximumEntries = 256
  /// The most entries to read in one call if their sizes are unknown.
  static let maximumOfUnknownSize = 32
  /// The most bytes of payloads to read in one call. A larger entry is read alone.
  static let maximumBytes = 4 << 20

  private let engine: any StorageEngine
  private let maximumCount: Int
  private var reader: (any BatchReading)?
  private var expected: ArraySlice<EntrySummary> = []
  private var results: [CacheKey: Result<ReadEntry?, CacheError>] = [:]

  /// - Parameter sizesAreKnown: whether the entries passed to `expect(_:)` come from `engine` itself. If they come from
  ///   another store with the same keys, their sizes say nothing about this one.
  init(_ engine: any StorageEngine, sizesAreKnown: Bool = true) {
    self.engine = engine
    maximumCount = sizesAreKnown ? Self.maximumEntries : Self.maximumOfUnknownSize
  }

  /// Announces that the caller is going to read most of `entries`, in this order. They replace those announced before.
  mutating func expect(_ entries: [EntrySummary]) {
    // An engine whose server was away has no reader until it is open.
    reader = engine.batchReader
    (expected, results) = (reader == nil ? [] : entries[...], [:])
  }

  /// Does what the engine's `read(_:_:)` does. An announced entry may have been read at any time since it was announced.
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

  /// Reads the next expected entries, as many as fit into one call.
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
      // The caller reads them one by one, which shows which of them is damaged.
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
