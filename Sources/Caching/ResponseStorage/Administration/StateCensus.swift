internal import StorageSPI

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
