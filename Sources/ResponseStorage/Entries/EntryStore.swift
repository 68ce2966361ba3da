internal import CacheData
public import CacheDomain
public import StorageSPI

/// An engine with what the core adds to every entry: absolute times by the clock, and a checksum that is made on
/// writing and checked on each read, whatever the engine does. Where it has limits, no write exceeds them.
public struct EntryStore: Sendable {
  let engine: any StorageEngine

  /// The time by which entries are fresh, stale or expired.
  public let clock: any WallClock

  /// How often look-ups found an entry.
  public let usage: UsageCounter

  /// How each entry was used.
  public let uses: EntryUses

  /// What was decoded; `nil` where nothing is kept of it.
  let decodedEntries: DecodedEntries?

  /// What is lost of the store as far as is known without reading entries: nothing of one that is read as it is.
  public var damage: StoreDamage { salvageDamage ?? StoreDamage() }

  /// What is lost of a store that is read as a repair would save it; `nil` of one that is read as it is.
  var salvageDamage: StoreDamage? { (engine as? SalvagedEngine)?.damage ?? (engine as? RecoveringEngine)?.damage }

  private let writer: BoundedWriter

  /// The store over `engine`, by the time of `clock`.
  ///
  /// - Parameters:
  ///   - limits: how much it may hold; `nil` for anything.
  ///   - uses: how its entries were used before, and what becomes of how they are used now.
  ///   - removesExpired: whether writes also remove a few expired entries; only where there are limits. An engine that
  ///     drops them by itself needs none of that.
  ///   - decoded: how much of what was decoded may be kept in memory, to be used again.
  public init(
    engine: any StorageEngine, clock: any WallClock, limits: StoreLimits? = nil, uses: EntryUses = EntryUses(),
    removesExpired: Bool = true, decoded: DecodedLimits = .standard
  ) {
    self.engine = engine
    self.clock = clock
    self.uses = uses
    usage = UsageCounter()
    decodedEntries = decoded.maxEntries > 0 ? DecodedEntries(engine.changeCounter, decoded) : nil
    writer = BoundedWriter(
      engine: engine, clock: clock, limits: limits, usage: usage, uses: uses, removesExpired: removesExpired)
  }

  /// Closes the engine.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  public func close() async throws(CacheError) {
    decodedEntries?.removeAll()
    do throws(StorageError) { try await engine.close() } catch { throw CacheError(error) }
  }

  /// What `decode` makes of the entry under `key`, with its metadata; `nil` where there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: what `decode` throws; `damaged` where the entry is not what was written.
  public func read<Value: Sendable>(
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

  /// Counts a look-up: under `key` there was an entry, which is now used; with `nil`, there was none.
  public func countLookUp(_ key: CacheKey?) { countLookUp(digest: key.map { UseRecord.digest(of: $0) }) }

  /// Counts a look-up, likewise, by the digest of the key.
  func countLookUp(digest: UInt64?) {
    usage.record(hit: digest != nil)
    if let digest { uses.record(digest: digest, at: clock.now) }
  }

  /// Stores an entry together with the changes of `batch`, if what is there before is as expected. Where the store has
  /// no room, other entries go.
  ///
  /// - Parameters:
  ///   - key: the entry's key.
  ///   - payload: its bytes.
  ///   - metadata: what is known of it; its checksum is made here.
  ///   - expecting: what has to be there before; `nil` for anything.
  ///   - batch: what else is to change, all or nothing.
  /// - Throws: `CacheError` with the code of the engine's failure, `tooLarge` where the entry alone is more than the
  ///   store may hold, `overBounds` where no other entry may go, `busy` where other writers fill it all the time; then
  ///   nothing of it has changed.
  public func write(
    _ key: CacheKey, payload: [UInt8], metadata: EntryMetadata, expecting: WriteBatch.Expectation? = nil,
    with batch: WriteBatch = WriteBatch()
  ) async throws(CacheError) {
    var (batch, metadata) = (batch, metadata)
    metadata.checksum = metadata.computedChecksum(key: key, payload: payload.span)
    if let expecting { batch.require(key, expecting) }
    batch.put(key, payload: payload, metadata: metadata)
    do throws(StorageError) {
      try await writer.apply(batch, storing: key, bytes: payload.count)
    } catch {
      throw CacheError(error)
    }
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
        .damaged, "entry \(key) is damaged: its checksum does not match",
        hint: "remove it with: cachectl rm \(key) (an entry is changed by export, an editor and import)")
    }
  }
}

extension Timestamp {
  /// The time since 1970-01-01T00:00:00Z, which is how the domain tells time.
  public var sinceEpoch: Duration { .milliseconds(milliseconds) }
}
