internal import FetchVocabulary
public import CacheCore
internal import EngineAPI

/// The cache as a whole.
extension Cache {
  /// Removes everything: values, the responses of all resources, and responses.
  ///
  /// - Throws: `CacheError`: the engine's failure, such as `noSpace`, as on most engines a removal takes up space before it
  ///   frees any; `damaged` if part of the store cannot be removed. Some entries might be gone.
  @concurrent
  public func removeAll() async throws(CacheError) {
    do throws(CacheError) {
      try await administration.removeAll { _ in }
    } catch {
      guard error.code == .noSpace else { throw error }
      throw CacheError(
        .noSpace, error.message,
        hint: "make room on the file system, or close the cache and call StorageLocation.removeStore()",
        cause: error)
    }
  }

  /// How much the cache holds, and how many requests it has served since it was opened.
  ///
  /// Cost: a scan of all entries, without their payloads, to count the fresh, stale and expired ones. In a store of more than
  /// 100,000 entries it does not count these (`StoreReport.states` is `nil`), and the cost is then independent of the number
  /// of entries on the engines that keep a count.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @concurrent
  public func statistics() async throws(CacheError) -> StoreReport {
    try await administration.statistics(ofAllProcesses: false)
  }

  private var administration: StoreAdministration { StoreAdministration(store) }

  /// Changes the entries of `requests`, and returns how many there were to change.
  @concurrent
  func change(_ change: EntryChange, _ requests: [some CacheableRequest]) async throws(CacheError) -> Int {
    var keys: [CacheKey] = []
    for request in requests { keys.append(try CacheKey(for: request)) }
    return try await administration.change(change, keys: keys, dryRun: false).entries
  }

  /// Changes all entries whose keys begin with `prefix`, and returns how many there were to change.
  @concurrent
  func change(_ change: EntryChange, prefix: String) async throws(CacheError) -> Int {
    try await administration.change(change, EntrySelection(prefix: prefix), dryRun: false).entries
  }
}
