public import FetchVocabulary
internal import StorageSPI

extension StoreAdministration {
  /// Reports how much the store holds, in which states, and how it was used.
  ///
  /// In a store of up to 10,000 entries it examines every entry that may be fresh. In a larger one the cost does not
  /// depend on the number of entries: it examines up to 10,000 entries that change their state in the present slot, and
  /// estimates the states if there are more, which the report says. An entry stored ahead of the clock then counts as
  /// fresh until its time comes.
  ///
  /// Damaged entries are left out and reported. The others are then counted one by one.
  ///
  /// - Throws: `CacheError`: the engine or the ledger failed.
  public func statistics() async throws(CacheError) -> StoreReport {
    let operations = try ledger.totals()
    let held: StoreCount
    held = try await StoreCount(store.engine)
    let tally = held.tally.withoutLeases
    let isSmall = tally.total().entries <= Self.maximumCensus
    var census = StateCensus(tally, at: store.clock.now, trustsTimes: !isSmall)
    let namespaces = census.undecidedNamespaces
    let isEstimated = namespaces.reduce(0) { $0 + (tally.namespaces[$1]?.entries ?? 0) } > Self.maximumCensus
    if isEstimated {
      census.estimate()
    } else {
      for namespace in namespaces {
        try await visit(EntrySelection(namespace: namespace), after: nil) { page throws(CacheError) in
          for entry in page { census.count(entry) }
          return true
        }
      }
    }
    return StoreReport(
      tally: tally, storageBytes: held.storageBytes, damage: store.damage + held.damage, states: census.states,
      isEstimated: isEstimated, operations: operations)
  }
}
