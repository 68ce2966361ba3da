internal import StorageSPI

/// How many entries are in each state, by a tally: whole slots have one state, and only those in which the present lies
/// are undecided.
struct StateCensus {
  /// The number of entries in each state that has some.
  private(set) var states: [EntryState: Int] = [:]
  /// The slots some of whose entries have changed their state and others not.
  private(set) var undecided: [EntryTally.Slot: Int] = [:]

  private let now: Timestamp

  /// The census of the entries that `tally` counts, at `now`.
  ///
  /// - Parameter trustsTimes: whether all entries of a slot in the future count as fresh. One that was stored ahead of the
  ///   clock is stale, which the tally does not tell.
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

  /// The namespaces of the undecided slots, in order.
  var undecidedNamespaces: [String] { Set(undecided.keys.map(\.namespace)).sorted() }

  /// Counts an entry if its slot is undecided.
  mutating func count(_ entry: EntrySummary) {
    let slot = EntryTally.Slot(namespace: entry.key.namespace, entry.metadata)
    if undecided[slot] != nil { add(1, entry.metadata.state(at: now)) }
  }

  /// Counts the entries of undecided slots as if their times were spread evenly over the slot.
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
