public import StorageSPI

/// How much a store holds, in what state, and how it was used.
public struct StoreReport: Sendable {
  /// What the engine says, without the leases of flights.
  public let statistics: StorageStatistics
  /// How often the cache answered.
  public let usage: UsageCounts
  /// Whether the numbers in each state are estimates: right but for the entries that change their state within the same
  /// 17.5 minutes as now.
  public let isEstimated: Bool
  private let states: [EntryState: Int]

  init(statistics: StorageStatistics, states: [EntryState: Int], isEstimated: Bool, usage: UsageCounts) {
    self.statistics = statistics
    self.isEstimated = isEstimated
    self.states = states
    self.usage = usage
  }

  /// The number of entries in a state.
  public func count(_ state: EntryState) -> Int { states[state] ?? 0 }
}
