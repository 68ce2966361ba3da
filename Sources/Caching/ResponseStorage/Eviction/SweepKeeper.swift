public import FetchVocabulary
internal import StorageSPI
internal import Synchronization

/// Keeps the place of evictions in a large store from one process to the next. It is not part of the store: losing it
/// only changes which entries are evicted first.
public protocol SweepLog: Sendable {
  /// The text that was kept last; `nil` if there is none, or it cannot be read.
  func load() -> String?

  /// Keeps `text`.
  func save(_ text: String) throws(CacheError)
}

/// What evictions know between writes.
final class SweepKeeper: Sendable {
  private struct State {
    var sweep: EvictionSweep?
    var isChanged = false
    /// The number of entries that the store held when it was counted last; `nil` if it was not.
    var entries: Int?
    /// How many evictions there were since.
    var uncounted = 0
  }

  /// The number of evictions after which the store is counted again.
  private static let longestUncounted = 256

  private let log: (any SweepLog)?
  private let state = Mutex(State())

  init(_ log: (any SweepLog)?) { self.log = log }

  /// The sweep, which starts at `key` if none is known.
  func sweep(near key: CacheKey) -> EvictionSweep {
    if let sweep = state.withLock(\.sweep) { return sweep }
    return log?.load().flatMap { EvictionSweep(text: $0) } ?? EvictionSweep(at: key)
  }

  /// Keeps the sweep after an eviction.
  func keep(_ sweep: EvictionSweep) {
    state.withLock { ($0.sweep, $0.isChanged) = (sweep, true) }
  }

  /// Notes how many entries the store holds.
  func note(entries: Int) {
    state.withLock { ($0.entries, $0.uncounted) = (entries, 0) }
  }

  /// About how many entries the store holds; `nil` if it is time to count them.
  func estimatedEntries() -> Int? {
    state.withLock { state in
      state.uncounted += 1
      return state.uncounted <= Self.longestUncounted ? state.entries : nil
    }
  }

  /// Saves the place for the next process, if there were evictions.
  func save() throws(CacheError) {
    guard let log else { return }
    let sweep = state.withLock { state in
      defer { state.isChanged = false }
      return state.isChanged ? state.sweep : nil
    }
    if let sweep { try log.save(sweep.text) }
  }
}
