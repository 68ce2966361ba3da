internal import CacheData
public import CacheDomain
public import StorageSPI

/// An engine with what the core adds to every entry: absolute times by the clock, and a checksum that is made on
/// writing and checked on each read, whatever the engine does.
public struct EntryStore: Sendable {
  let engine: any StorageEngine
  let clock: any WallClock

  /// How often look-ups found an entry.
  public let usage = UsageCounter()

  /// The store over `engine`, by the time of `clock`.
  public init(engine: any StorageEngine, clock: any WallClock) {
    self.engine = engine
    self.clock = clock
  }

  /// Closes the engine.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  public func close() async throws(CacheError) {
    do throws(StorageError) { try await engine.close() } catch { throw CacheError(error) }
  }

  /// What `decode` makes of the entry under `key`, with its metadata; `nil` where there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: what `decode` throws; `damaged` where the entry is not what was written.
  func read<Value: Sendable>(
    _ key: CacheKey, _ decode: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Value
  ) async throws(CacheError) -> (value: Value, metadata: EntryMetadata)? {
    let now = clock.now
    do throws(StorageError) {
      let found = try await engine.read(key) { bytes, metadata throws(StorageError) in
        try metadata.verify(key: key, payload: bytes)
        if metadata.state(at: now) == .expired { return Optional<(value: Value, metadata: EntryMetadata)>.none }
        return (try decode(bytes, metadata), metadata)
      }
      return found ?? nil
    } catch {
      throw CacheError(error)
    }
  }

  /// Stores an entry together with the changes of `batch`, if what is there before is as expected.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure; then nothing has changed.
  func write(
    _ key: CacheKey, payload: [UInt8], metadata: EntryMetadata, expecting: WriteBatch.Expectation? = nil,
    with batch: WriteBatch = WriteBatch()
  ) async throws(CacheError) {
    var (batch, metadata) = (batch, metadata)
    metadata.checksum = metadata.computedChecksum(key: key, payload: payload.span)
    if let expecting { batch.require(key, expecting) }
    batch.put(key, payload: payload, metadata: metadata)
    do throws(StorageError) { try await engine.apply(batch) } catch { throw CacheError(error) }
  }
}

extension EntryMetadata {
  /// Whether the entry is what was written.
  func isSound(key: CacheKey, payload: Span<UInt8>) -> Bool {
    computedChecksum(key: key, payload: payload) == checksum
  }

  /// Checks that the entry is what was written.
  ///
  /// - Throws: `StorageError` with the code `damaged` where it is not.
  func verify(key: CacheKey, payload: Span<UInt8>) throws(StorageError) {
    guard isSound(key: key, payload: payload) else {
      throw StorageError(
        .damaged, "entry \(key) is damaged: its checksum does not match", hint: "remove it with: cachectl rm \(key)")
    }
  }
}

extension Timestamp {
  /// The time since 1970-01-01T00:00:00Z, which is how the domain tells time.
  public var sinceEpoch: Duration { .milliseconds(milliseconds) }
}
