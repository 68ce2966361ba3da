public import CacheDomain
internal import StorageSPI

extension StoreAdministration {
  /// How much the store holds, in what state, and how it was used.
  ///
  /// In a store of up to 10,000 entries those that may be fresh are looked at one by one. In a larger one the cost does not
  /// grow with the number of entries: where entries change their state in the very slot of the present, up to 10,000 of
  /// them are looked at; of more the states are estimated, and the report says so. An entry that was stored ahead of the
  /// clock then counts as fresh until its time comes.
  ///
  /// What is damaged is left out, and named in the report; the entries are then counted one by one.
  ///
  /// - Throws: `CacheError`: the engine or the ledger failed.
  public func statistics() async throws(CacheError) -> StoreReport {
    let usage = try ledger.totals()
    let held: StoreCount
    do throws(StorageError) { held = try await StoreCount(store.engine) } catch { throw CacheError(error) }
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
      isEstimated: isEstimated, usage: usage)
  }
}
