public import StorageSPI

/// How much a store holds, in what state, and how it was used.
public struct StoreReport: Sendable {
  /// The entries, without the leases of flights.
  public let tally: EntryTally
  /// What the store takes up on its medium, in bytes; `nil` where damage keeps the engine from telling.
  public let storageBytes: Int?
  /// What could not be counted.
  public let damage: StoreDamage
  /// How often the cache answered.
  public let usage: UsageCounts
  /// Whether the numbers in each state are estimates: right but for the entries that change their state within the same
  /// 17.5 minutes as now.
  public let isEstimated: Bool
  private let states: [EntryState: Int]

  init(
    tally: EntryTally, storageBytes: Int?, damage: StoreDamage, states: [EntryState: Int], isEstimated: Bool,
    usage: UsageCounts
  ) {
    (self.tally, self.storageBytes, self.damage) = (tally, storageBytes, damage)
    self.isEstimated = isEstimated
    self.states = states
    self.usage = usage
  }

  /// The number of entries in a state.
  public func count(_ state: EntryState) -> Int { states[state] ?? 0 }
}
