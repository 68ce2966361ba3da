public import CacheCore
internal import FetchVocabulary
internal import EngineAPI

/// An open store with its companions. Its opener closes it.
public struct OpenStore: Sendable {
  /// The entries of the store, including those of other storages.
  public let entries: EntryStore
  let background = BackgroundWork()
  /// A warning for the user: what was at the place of the store.
  public let warning: CacheError?

  init(_ entries: EntryStore, warning: CacheError? = nil) {
    self.entries = entries
    self.warning = warning
  }

  /// The administration of the store.
  public var administration: StoreAdministration { StoreAdministration(entries) }

  /// What users should know of the tiers of the store now; `nil` if all is well, or it has none.
  public var tierWarning: CacheError? { entries.tiered?.tierWarning }

  /// In which tier of the store the entry under `key` is, in a few words; `nil` if it has no tiers.
  public func tier(of key: String) async -> String? {
    guard let tiered = entries.tiered, let key = try? CacheKey(key) else { return nil }
    return await tiered.tier(of: key)
  }

  /// How many unexpired entries were evicted so far to keep the store within its bounds.
  public var evictions: Int { entries.uses.counts.evictions }

  /// Waits for background work, such as the revalidation of a stale entry.
  ///
  /// - Returns: the failures to store what was fetched.
  public func finishBackgroundWork() async -> [CacheError] { await background.finish() }

  /// Waits for background work, and closes the store.
  ///
  /// - Throws: `CacheError`: the engine could not be closed in order, or the use of the store not be recorded.
  public func close() async throws(CacheError) {
    await background.finish()
    if let warning = try await entries.close() { throw warning }
  }
}
