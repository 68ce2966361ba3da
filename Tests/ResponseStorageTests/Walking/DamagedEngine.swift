import StorageSPI
import Synchronization

/// An engine in front of another one that cannot read some of its entries, as on a damaged medium.
final class DamagedEngine: StorageEngine {
  /// What is damaged, and what the damage looks like.
  struct Damage: Sendable {
    /// Keys of unreadable entries.
    var entries: Set<CacheKey> = []
    /// Keys of entries that are listed, but not found by key.
    var hidden: Set<CacheKey> = []
    /// Keys of entries that are listed under other keys, and found under neither.
    var garbled: [CacheKey: CacheKey] = [:]
    /// Whether the unreadable entries can be listed.
    var isListed = false
    /// Whether the check of the structure names them.
    var isNamed = true
    /// Prefixes under which no key can be listed, as with one damaged file per namespace.
    var prefixes: [String] = []
    /// Listed entries that are not found.
    var phantoms: [EntrySummary] = []
    /// The error code of a read that meets damage.
    var code = CacheError.Code.damaged
    /// The error of every call.
    var failure: CacheError?
  }

  private let base: any StorageEngine
  private let damage: Damage
  private let scans = Mutex(0)

  init(over base: any StorageEngine, _ damage: Damage) {
    self.base = base
    self.damage = damage
  }

  /// The number of attempts to list entries.
  var scanCount: Int { scans.withLock { $0 } }

  private func check() throws(CacheError) {
    if let failure = damage.failure { throw failure }
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try check()
    if damage.hidden.contains(key) || damage.garbled[key] != nil { return nil }
    if damage.entries.contains(key) { throw CacheError(damage.code, "entry \(key) cannot be read") }
    return try await base.read(key, body)
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try check()
    scans.withLock { $0 += 1 }
    for prefix in damage.prefixes where prefix.hasPrefix(range.prefix) || range.prefix.hasPrefix(prefix) {
      if let after = range.after?.text, after > prefix + "\u{7F}" { continue }
      throw CacheError(damage.code, "the file of \(prefix) is damaged")
    }
    let found = try await base.scan(range, limit: limit) + damage.phantoms.filter { range.contains($0.key) }
    let page = found.sorted { $0.key < $1.key }.prefix(limit)
    if !damage.isListed, let bad = page.first(where: { damage.entries.contains($0.key) }) {
      throw CacheError(damage.code, "entry \(bad.key) cannot be listed")
    }
    return page.map { entry in
      EntrySummary(
        key: damage.garbled[entry.key] ?? entry.key, metadata: entry.metadata, payloadBytes: entry.payloadBytes)
    }
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    try check()
    if !damage.prefixes.isEmpty { throw CacheError(damage.code, "it cannot be counted") }
    return try await base.statistics()
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try check()
    let named = damage.isNamed ? damage.entries.sorted() : []
    return named.map { IntegrityIssue(key: $0, kind: .undecodable, message: "cannot be decoded") }
      + damage.prefixes.map { IntegrityIssue(kind: .structure, message: "the file of \($0) is damaged") }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) { try await base.apply(batch) }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}
