public import StorageSPI

/// How much a store holds, in which states, and how it was used.
public struct StoreReport: Sendable {
  /// The entries, without the leases of flights.
  public let tally: EntryTally
  /// The space that the store takes up on its medium, in bytes; `nil` if damage prevents the engine from knowing.
  public let storageBytes: Int?
  /// What could not be counted.
  public let damage: StoreDamage
  /// How often the cache answered.
  public let operations: OperationCounts
  /// Whether the counts by state are estimates. Only entries whose state changes within the present slot of 17.5
  /// minutes may be counted wrongly.
  public let isEstimated: Bool
  private let states: [EntryState: Int]

  package init(
    tally: EntryTally, storageBytes: Int?, damage: StoreDamage, states: [EntryState: Int], isEstimated: Bool,
    operations: OperationCounts
  ) {
    (self.tally, self.storageBytes, self.damage) = (tally, storageBytes, damage)
    self.isEstimated = isEstimated
    self.states = states
    self.operations = operations
  }

  /// The number of entries in `state`.
  public func count(_ state: EntryState) -> Int { states[state] ?? 0 }
}
