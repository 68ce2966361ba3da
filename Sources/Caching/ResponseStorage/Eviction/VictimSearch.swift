package import StorageSPI

/// Ranks entries by a policy as they are found, and chooses those to evict.
package struct VictimSearch: Sendable {
  /// How many entries of a large store are looked at for each one that goes. With 2, `leastRecentlyUsed` has half a point
  /// of hit ratio less; with 4, a tenth more.
  package static let entriesPerVictim = 3

  private let policy: EvictionPolicy
  private let now: Timestamp
  /// The entries that must stay.
  private let excluded: [CacheKey]
  private var selection: VictimSelection
  /// The number of entries offered so far.
  package private(set) var seen = 0
  /// Whether the policy kept an entry.
  package private(set) var hasKept = false

  /// A search for as much as is needed, and up to `spareCount` entries more.
  package init(
    _ policy: EvictionPolicy, needed: EntryTally.Count, spareCount: Int, now: Timestamp, excluding: [CacheKey] = []
  ) {
    (self.policy, self.now, excluded) = (policy, now, excluding)
    selection = VictimSelection(needed: needed, spareCount: spareCount)
  }

  /// Considers entries that it has not seen, from all parts of the store if it is large.
  ///
  /// - Parameter histories: how entries were used; called if the policy depends on that.
  package mutating func offer(_ entries: [EntrySummary], _ histories: ([CacheKey]) -> [AccessHistory]) {
    seen += entries.count
    let known = policy.dependsOnUse ? histories(entries.map(\.key)) : []
    var candidates: [EvictionCandidate] = []
    candidates.reserveCapacity(entries.count)
    for index in entries.indices where mayGo(entries[index].key) {
      let history = known.isEmpty ? AccessHistory() : known[index]
      candidates.append(EvictionCandidate(entries[index], history: history, now: now))
    }
    // An order ranks each candidate on its own.
    let sample = EvictionSample(policy.order == nil ? candidates : [], now: now)
    for candidate in candidates {
      if let victim = Victim(candidate, among: sample, policy) { selection.offer(victim) } else { hasKept = true }
    }
  }

  private func mayGo(_ key: CacheKey) -> Bool {
    // Comparing the lengths first decides almost always.
    if key.namespaceLength == Lease.namespace.utf8.count, key.text.hasPrefix(Lease.keyPrefix) { return false }
    return !excluded.contains { $0.text.utf8.count == key.text.utf8.count && $0 == key }
  }

  /// Chooses among the entries offered so far.
  package mutating func choose() -> VictimSelection.Choice { selection.choose() }

  /// How many entries to look at before the choice is good.
  package mutating func goal(atLeast count: Int) -> Int { Self.entriesPerVictim * max(count, choose().victims.count) }
}
