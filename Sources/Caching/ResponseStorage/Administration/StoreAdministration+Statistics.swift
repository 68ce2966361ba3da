public import FetchVocabulary
public import StorageSPI

extension StoreAdministration {
  /// Reports how much the store holds, in which states, and how it was used.
  ///
  /// In a store of up to 10,000 entries it examines every entry that may be fresh. In a larger one the cost does not
  /// depend on the number of entries: it examines up to 10,000 entries that change their state in the present slot, and
  /// estimates the states if there are more, which the report says. An entry stored ahead of the clock then counts as
  /// fresh until its time comes.
  ///
  /// - Throws: `CacheError`: the engine or the ledger failed.
  public func statistics() async throws(CacheError) -> StoreReport {
    let operations = try ledger.totals()
    let held = try await store.engine.statistics()
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
      tally: tally, storageBytes: held.storageBytes, states: census.states,
      isEstimated: isEstimated, operations: operations, tiers: await store.tiered?.tiers() ?? [])
  }
}

/// How much a store holds, in which states, and how it was used.
public struct StoreReport: Sendable {
  /// The entries, without the leases of flights.
  public let tally: EntryTally
  /// The space that the store takes up on its medium, in bytes.
  public let storageBytes: Int
  /// How often the cache answered.
  public let operations: OperationCounts
  /// Whether the counts by state are estimates. Only entries whose state changes within the present slot of 17.5
  /// minutes may be counted wrongly.
  public let isEstimated: Bool
  /// What each tier holds, the nearest first; empty for an engine without tiers. The rest of the report is about the last
  /// one.
  public let tiers: [TierReport]
  private let states: [EntryState: Int]

  package init(
    tally: EntryTally, storageBytes: Int, states: [EntryState: Int], isEstimated: Bool,
    operations: OperationCounts, tiers: [TierReport] = []
  ) {
    self.tiers = tiers
    (self.tally, self.storageBytes) = (tally, storageBytes)
    self.isEstimated = isEstimated
    self.states = states
    self.operations = operations
  }

  /// The number of entries, including expired ones that are still there.
  public var entries: Int { tally.total().entries }

  /// The size of their payloads, in bytes.
  public var payloadBytes: Int { tally.total().payloadBytes }

  /// The number of entries in `state`.
  public func count(_ state: EntryState) -> Int { states[state] ?? 0 }
}

/// Counts the entries in each state, from a tally. All entries of a slot have the same state, unless a change of state
/// falls into the present slot; then the slot is undecided.
struct StateCensus {
  /// The number of entries in each state, without states that have none.
  private(set) var states: [EntryState: Int] = [:]
  /// Slots of which some entries have changed their state and others have not.
  private(set) var undecided: [EntryTally.Slot: Int] = [:]

  private let now: Timestamp

  /// Counts the entries in `tally` by their state at `now`.
  ///
  /// - Parameter trustsTimes: whether all entries in slots of the future count as fresh. An entry that was stored ahead
  ///   of the clock is in fact stale, but the tally cannot tell.
  init(_ tally: EntryTally, at now: Timestamp, trustsTimes: Bool) {
    self.now = now
    for (slot, count) in tally.slots {
      if let state = slot.state(at: now), trustsTimes || state != .fresh {
        add(count.entries, state)
      } else {
        undecided[slot] = count.entries
      }
    }
  }

  /// The namespaces of the undecided slots, sorted.
  var undecidedNamespaces: [String] { Set(undecided.keys.map(\.namespace)).sorted() }

  /// Counts an entry if its slot is undecided.
  mutating func count(_ entry: EntrySummary) {
    let slot = EntryTally.Slot(namespace: entry.key.namespace, entry.metadata)
    if undecided[slot] != nil { add(1, entry.metadata.state(at: now)) }
  }

  /// Counts the entries of undecided slots, assuming that their times are spread evenly over the slot.
  mutating func estimate() {
    let width = Int64(1) << EntryTally.slotBits
    let present = now.milliseconds >> EntryTally.slotBits
    let share = Double(now.milliseconds & (width - 1)) / Double(width)
    for (slot, count) in undecided {
      let passed = Int((share * Double(count)).rounded())
      if slot.retainSlot == present {
        add(passed, .expired)
        add(count - passed, slot.freshSlot <= present ? .stale : .fresh)
      } else {
        add(passed, .stale)
        add(count - passed, .fresh)
      }
    }
  }

  private mutating func add(_ count: Int, _ state: EntryState) {
    if count > 0 { states[state, default: 0] += count }
  }
}
