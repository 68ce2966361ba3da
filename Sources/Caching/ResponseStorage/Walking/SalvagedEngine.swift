public import StorageSPI
internal import Synchronization

/// A read-only engine over a store that cannot be opened: it shows what a repair would save.
///
/// It creates no file, so it works on a full disk and on read-only media. It keeps the keys and metadata of all entries
/// in memory, and up to 64 MiB of payloads, or a single larger one. For other payloads it searches the damaged store
/// again, so reading all entries in order takes one search for each 64 MiB of payloads. The store must stay closed all
/// that time.
public final class SalvagedEngine: StorageEngine {
  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration
  private let reason: CacheError
  private let maximumBytes: Int
  private let entries: [EntrySummary]
  /// The payloads in memory.
  private let payloads = Mutex<[CacheKey: [UInt8]]>([:])
  /// Whether a key that was not found may have been lost.
  private let mayHaveLost: Bool

  /// What the store has lost, and that it is damaged.
  let damage: StoreDamage

  /// Searches the store that `configuration` describes.
  ///
  /// - Parameters:
  ///   - reason: why the store is not opened; reading a key that may be lost fails with it.
  ///   - maximumBytes: how many bytes of payloads to keep in memory.
  /// - Throws: `CacheError`: what `StoragePlugin.previewRepair` throws, such as `busy` if another process has the
  ///   store open, or `unsupported`.
  init(
    _ plugin: any StoragePlugin, _ configuration: EngineConfiguration, reason: CacheError, maximumBytes: Int
  ) async throws(CacheError) {
    let found = Mutex<[CacheKey: EntrySummary]>([:])
    let report = try await plugin.previewRepair(
      configuration,
      .visitingSound { key, payload, metadata in
        let entry = EntrySummary(key: key, metadata: metadata, payloadBytes: payload.count)
        found.withLock { found in
          // If the damaged store holds several versions of an entry, the last one counts.
          if let other = found[key], other.metadata.storedAt > metadata.storedAt { return }
          found[key] = entry
        }
      })
    entries = found.withLock { $0.values.sorted { $0.key < $1.key } }
    (self.plugin, self.configuration, self.reason) = (plugin, configuration, reason)
    (self.maximumBytes, mayHaveLost) = (maximumBytes, !report.lost.isEmpty)
    damage = StoreDamage(report.lost, of: reason)
  }

  /// Searches the store that `configuration` describes and that is not opened for `reason`.
  ///
  /// - Throws: `CacheError`: the engine cannot tell what a repair would save.
  public convenience init(
    _ plugin: any StoragePlugin, _ configuration: EngineConfiguration, reason: CacheError
  ) async throws(CacheError) {
    try await self.init(plugin, configuration, reason: reason, maximumBytes: 64 << 20)
  }

  /// Lends the entry under `key`; `nil` if there is certainly none.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry may be lost, and what searching the store throws.
  public func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let index = index { $0 < key }
    guard index < entries.count, entries[index].key == key else {
      if mayHaveLost { throw reason }
      return nil
    }
    let payload = try await payload(at: index)
    return try body(payload.span, entries[index].metadata)
  }

  private func payload(at index: Int) async throws(CacheError) -> [UInt8] {
    let key = entries[index].key
    if let payload = payloads.withLock({ $0[key] }) { return payload }
    let wanted = entriesToHold(from: index)
    let found = Mutex<[CacheKey: [UInt8]]>([:])
    payloads.withLock { $0 = [:] }
    _ = try await plugin.previewRepair(
      configuration,
      .visitingSound { key, payload, metadata in
        guard let entry = wanted[key], entry.metadata == metadata, entry.payloadBytes == payload.count else { return }
        let bytes = payload.withUnsafeBufferPointer { Array($0) }
        found.withLock { $0[key] = bytes }
      })
    let held = found.withLock { $0 }
    payloads.withLock { $0 = held }
    // The store may have changed since the first search.
    guard let payload = held[key] else { throw reason }
    return payload
  }

  /// The entries from `index` on whose payloads fit into memory together.
  private func entriesToHold(from index: Int) -> [CacheKey: EntrySummary] {
    var (wanted, bytes) = ([CacheKey: EntrySummary](), 0)
    for entry in entries[index...] {
      bytes += entry.payloadBytes
      if bytes > maximumBytes, !wanted.isEmpty { break }
      wanted[entry.key] = entry
    }
    return wanted
  }

  /// The index of the first entry whose key does not satisfy `isBefore`.
  private func index(where isBefore: (CacheKey) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if isBefore(entries[middle].key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The first entries of `range`, sorted by key.
  public func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    let first = index { key in key.text < range.prefix || range.after.map { key <= $0 } ?? false }
    return Array(entries[first...].prefix(limit).prefix { $0.key.text.hasPrefix(range.prefix) })
  }

  /// Fails: the size of the store is unknown. `StoreCount` counts the entries.
  public func statistics() async throws(CacheError) -> StorageStatistics { throw reason }

  /// Fails: no structure is left to check.
  public func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { throw reason }

  /// Fails: the engine is read-only.
  public func apply(_ batch: WriteBatch) async throws(CacheError) { throw reason }

  /// Fails: the engine is read-only.
  public func compact() async throws(CacheError) { throw reason }

  /// Releases the payloads in memory.
  public func close() async throws(CacheError) { payloads.withLock { $0 = [:] } }
}

extension RepairPlan {
  /// A plan that passes every sound entry to `visit`.
  fileprivate static func visitingSound(
    _ visit: @escaping @Sendable (CacheKey, Span<UInt8>, EntryMetadata) -> Void
  ) -> RepairPlan {
    RepairPlan(suffix: "") { key, payload, metadata in
      guard metadata.isSound(key: key, payload: payload) else { return false }
      visit(key, payload, metadata)
      return true
    }
  }
}
