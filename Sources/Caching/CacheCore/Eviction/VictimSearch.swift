package import EngineAPI

/// Ranks entries by a policy as they are found, and chooses those to evict.
package struct VictimSearch: Sendable {
  /// How many entries of a large store are looked at for each one that goes. With 2, `lru` has half a point
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
    _ policy: EvictionPolicy, needed: EntryCount, spareCount: Int, now: Timestamp, excluding: [CacheKey] = []
  ) {
    self.policy = policy
    self.now = now
    excluded = excluding
    selection = VictimSelection(needed: needed, spareCount: spareCount)
  }

  /// Considers entries that it has not seen, from all parts of the store if it is large.
  ///
  /// - Parameter histories: how entries were used; called if the policy depends on that.
  package mutating func offer(_ entries: [ScannedEntry], _ histories: ([CacheKey]) -> [AccessHistory]) {
    seen += entries.count
    let known = policy.dependsOnUse ? histories(entries.map(\.key)) : []
    var candidates: [EvictionCandidate] = []
    candidates.reserveCapacity(entries.count)
    for index in entries.indices where mayGo(entries[index].key) {
      let history = known.isEmpty ? AccessHistory() : known[index]
      candidates.append(EvictionCandidate(entries[index], history: history, now: now))
    }
    let sample = EvictionSample(candidates, now: now)
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

/// Chooses the candidates to evict first from a stream of any length: as few as are needed, plus a few spare ones, so
/// that not every write has to choose. If more than `maximumCount` would have to go, it holds those that go first.
///
/// It collects candidates in an array. Each time the array has doubled in size, it sorts the array and keeps only the
/// candidates that it would evict.
package struct VictimSelection: Sendable {
  static let maximumCount = 1_000
  /// The number of candidates to collect before the first sort.
  private static let smallestRoom = 256

  /// The candidates to evict, out of all that were offered so far.
  package struct Choice: Sendable {
    /// The chosen candidates, in the order of eviction.
    package let victims: [Victim]
    /// Whether evicting them makes enough room.
    package let isEnough: Bool
    /// Whether more have to go than one choice can hold.
    package var isBeginning: Bool { !isEnough && victims.count == VictimSelection.maximumCount }
  }

  /// How much must go.
  private let needed: EntryCount
  /// How many more may go.
  private let spareCount: Int
  private var candidates: [Victim] = []
  private var room = Self.smallestRoom
  /// Whether no candidate has been added since the last sort.
  private var isChosen = false
  private var isEnough = false
  /// The last candidate of a full choice: any that comes after it stays in the store.
  private var limit: Victim?

  package init(needed: EntryCount, spareCount: Int) {
    self.needed = needed
    self.spareCount = spareCount
  }

  /// Considers another candidate.
  package mutating func offer(_ candidate: Victim) {
    if let limit, limit < candidate { return }
    candidates.append(candidate)
    isChosen = false
    if candidates.count >= room { drop() }
  }

  /// Chooses among the candidates offered so far. Cost: one sort, or nothing if no candidate was added since the last
  /// call.
  package mutating func choose() -> Choice {
    if !isChosen { drop() }
    return Choice(victims: candidates, isEnough: isEnough)
  }

  /// Sorts the candidates and drops all but the chosen ones.
  private mutating func drop() {
    candidates.sort()
    var total = EntryCount()
    var count = 0
    while !total.covers(needed), count < min(candidates.count, Self.maximumCount) {
      total += candidates[count]
      count += 1
    }
    isEnough = total.covers(needed)
    let most = isEnough ? min(count + spareCount, Self.maximumCount) : Self.maximumCount
    let kept = min(most, candidates.count)
    limit = kept == most ? candidates[..<kept].last : nil
    candidates.removeSubrange(kept...)
    room = max(Self.smallestRoom, 2 * kept)
    isChosen = true
  }
}
