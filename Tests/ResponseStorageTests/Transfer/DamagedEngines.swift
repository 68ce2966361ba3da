import StorageSPI

/// An engine that loses the first entry of each batch.
final class ForgetfulEngine: StorageEngine {
  private let base: any StorageEngine

  init(over base: any StorageEngine) { self.base = base }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { try await base.read(key, body) }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await base.apply(batch)
    for case .put(let key, _, _) in batch.operations.prefix(2) {
      var removal = WriteBatch()
      removal.remove(key)
      return try await base.apply(removal)
    }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await base.scan(range, limit: limit)
  }

  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}

/// An engine that cannot decode some of its entries: every scan that meets one fails.
final class UndecodableEngine: StorageEngine {
  private let base: any StorageEngine
  private let damaged: [CacheKey]
  private let isSilent: Bool

  /// - Parameter isSilent: whether the engine's check misses them.
  init(over base: any StorageEngine, damaged: [CacheKey], isSilent: Bool = false) {
    (self.base, self.damaged, self.isSilent) = (base, damaged, isSilent)
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if damaged.contains(key) { throw CacheError(.damaged, "\(key)") }
    return try await base.read(key, body)
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    let entries = try await base.scan(range, limit: limit)
    if let first = entries.first(where: { damaged.contains($0.key) }) { throw CacheError(.damaged, "\(first.key)") }
    return entries
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    if isSilent { return [IntegrityIssue(kind: .structure, message: "something")] }
    return damaged.reversed().map { IntegrityIssue(key: $0, kind: .undecodable, message: "\($0)") }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) { try await base.apply(batch) }
  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}
