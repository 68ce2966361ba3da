package import EngineAPI

/// Ranks entries by a policy as they are found, and chooses those to evict: as few as are needed, plus a few spare ones, so
/// that not every write must choose.
package struct VictimSearch: Sendable {
  /// The number of entries of a large store that are examined for each eviction. With 2, `lru` has half a point of hit
  /// ratio less; with 4, a tenth more.
  package static let entriesPerVictim = 3
  /// The number of entries that one choice holds, unless told otherwise. If more must be evicted, it holds the first of them.
  package static let maximumVictims = 1_000

  /// The candidates to evict, out of all that were offered so far.
  package struct Choice: Sendable {
    /// The chosen candidates, in the order of eviction.
    package let victims: [Victim]
    /// Whether evicting them makes enough room.
    package let isEnough: Bool
    /// Whether more must be evicted than one choice can hold.
    package let isBeginning: Bool
  }

  private let policy: EvictionPolicy
  private let now: Timestamp
  /// How much must go.
  private let needed: EntryCount
  /// How many more can be evicted.
  private let spareCount: Int
  /// How many entries the choice holds.
  let maximum: Int
  /// The entries that must stay.
  private let excluded: [CacheKey]
  private var candidates: [Victim] = []
  /// The choice; `nil` if there are candidates that it does not consider.
  private var choice: Choice?
  /// The number of entries offered so far.
  package private(set) var seen = 0
  /// Whether the policy kept an entry.
  package private(set) var hasKept = false

  /// A search for as much as is needed, and up to `spareCount` entries more.
  package init(
    _ policy: EvictionPolicy, needed: EntryCount, spareCount: Int, now: Timestamp, excluding: [CacheKey] = [],
    maximum: Int = VictimSearch.maximumVictims
  ) {
    self.maximum = maximum
    self.policy = policy
    self.now = now
    self.needed = needed
    self.spareCount = spareCount
    excluded = excluding
  }

  /// Considers entries that it has not seen, from all parts of the store if it is large.
  ///
  /// - Parameter histories: how entries were used; called if the policy depends on that.
  package mutating func offer(_ entries: [ScannedEntry], _ histories: ([CacheKey]) -> [AccessHistory]) {
    seen += entries.count
    choice = nil
    let known = policy.dependsOnUse ? histories(entries.map(\.key)) : []
    var found: [EvictionCandidate] = []
    found.reserveCapacity(entries.count)
    for index in entries.indices where mayGo(entries[index].key) {
      let history = known.isEmpty ? AccessHistory() : known[index]
      found.append(EvictionCandidate(entries[index], history: history, now: now))
    }
    let sample = EvictionSample(found, now: now)
    for candidate in found {
      if let victim = Victim(candidate, among: sample, policy) { candidates.append(victim) } else { hasKept = true }
    }
  }

  private func mayGo(_ key: CacheKey) -> Bool {
    // Comparing the lengths first decides almost always.
    !key.isLease && !excluded.contains { $0.text.utf8.count == key.text.utf8.count && $0 == key }
  }

  /// Chooses among the entries offered so far. Cost: one sort, or nothing if no entry was offered since the last call.
  package mutating func choose() -> Choice {
    if let choice { return choice }
    candidates.sort()
    var total = EntryCount()
    var count = 0
    while !total.covers(needed), count < min(candidates.count, maximum) {
      total += EntryCount(entries: 1, payloadBytes: candidates[count].payloadBytes)
      count += 1
    }
    let isEnough = total.covers(needed)
    let chosen = Choice(
      victims: Array(candidates.prefix(isEnough ? min(count + spareCount, maximum) : count)), isEnough: isEnough,
      isBeginning: !isEnough && count == maximum)
    choice = chosen
    return chosen
  }

  /// How many entries to look at before the choice is good.
  package mutating func goal(atLeast count: Int) -> Int { Self.entriesPerVictim * max(count, choose().victims.count) }
}

/// A candidate with its rank. The one that is evicted earlier is smaller.
package struct Victim: Sendable, Comparable {
  package let key: CacheKey
  package let payloadBytes: Int
  package let checksum: UInt64
  package let isExpired: Bool
  private let rank: EvictionRank

  /// Ranks `candidate` by `policy`; `nil` if the entry must stay.
  package init?(_ candidate: EvictionCandidate, among sample: EvictionSample, _ policy: EvictionPolicy) {
    if let expiredAt = candidate.expiredAt {
      rank = EvictionRank(expiredAt, candidate.storedAt)
    } else {
      guard let rank = policy.rank(candidate, sample) else { return nil }
      self.rank = rank
    }
    isExpired = candidate.expiredAt != nil
    key = candidate.key
    payloadBytes = candidate.payloadBytes
    checksum = candidate.checksum
  }

  package static func < (left: Self, right: Self) -> Bool {
    if left.isExpired != right.isExpired { return left.isExpired }
    if left.rank != right.rank { return left.rank < right.rank }
    return left.key < right.key
  }
}

extension EntryCount {
  /// Whether this is at least as much as `other`, in entries and in bytes.
  func covers(_ other: Self) -> Bool { entries >= other.entries && payloadBytes >= other.payloadBytes }
}
