internal import EngineSupport
package import StorageSPI

/// An engine over several servers, of which one is lost: it cannot reach some of the entries of the engine inside.
package final class LostServerEngine: WrappingEngine {
  /// What it says of the lost server.
  package static let missing = "servers: 1 of 2 parts cannot be reached (b)"

  package let base: any StorageEngine
  private let isLost: @Sendable (CacheKey) -> Bool

  /// An engine over `base`, without the entries whose keys are lost.
  package init(over base: any StorageEngine, _ isLost: @escaping @Sendable (CacheKey) -> Bool) {
    (self.base, self.isLost) = (base, isLost)
  }

  package func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] { throw Self.failure }
  package func statistics() async throws(CacheError) -> StorageStatistics { throw Self.failure }
  package func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { throw Self.failure }
  package func compact() async throws(CacheError) { throw Self.failure }

  private static var failure: CacheError { CacheError(.unreachable, missing, hint: "start it") }

  package func scanReachable(
    _ range: KeyRange, limit: Int
  ) async throws(CacheError) -> Reachable<[EntrySummary]> {
    Reachable(try await reachable(range, limit), missing: Self.missing)
  }

  package func reachableStatistics() async throws(CacheError) -> Reachable<StorageStatistics> {
    var tally = EntryTally()
    for entry in try await reachable(KeyRange(), .max) {
      tally.add(
        EntryTally.Count(entries: 1, payloadBytes: entry.payloadBytes),
        to: EntryTally.Slot(namespace: entry.key.namespace, entry.metadata))
    }
    return Reachable(StorageStatistics(tally: tally, storageBytes: 77), missing: Self.missing)
  }

  private func reachable(_ range: KeyRange, _ limit: Int) async throws(CacheError) -> [EntrySummary] {
    var (found, rest) = ([EntrySummary](), range)
    while found.count < limit {
      let page = try await base.scan(rest, limit: limit)
      found += page.filter { !isLost($0.key) }
      guard page.count == limit, let last = page.last else { break }
      rest = KeyRange(prefix: range.prefix, after: last.key)
    }
    return Array(found.prefix(limit))
  }
}
