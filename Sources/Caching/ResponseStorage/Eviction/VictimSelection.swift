package import StorageSPI

/// Chooses the candidates to evict first from a stream of any length: as few as are needed, plus a few spare ones, so
/// that not every write has to choose.
///
/// It collects candidates. Whenever their number has doubled, it sorts them, and forgets those that need not go.
///
/// Memory is bounded: a choice has at most `maximumCount` candidates and `maximumKeyBytes` bytes of keys, beside the spare
/// ones. If that is less than what is needed, it has only the candidates that go first of all.
package struct VictimSelection: Sendable {
  static let maximumCount = 1 << 16
  static let maximumKeyBytes = 8 << 20
  /// How many candidates to collect at least before any are dropped.
  private static let smallestRoom = 256

  /// What is chosen of the candidates offered so far.
  package struct Choice: Sendable {
    /// The chosen candidates, in the order of eviction.
    package let victims: [Victim]
    /// Whether they are enough.
    package let isEnough: Bool
    /// Whether the limits on memory made the selection drop candidates that are needed.
    package let isBeginning: Bool
  }

  /// How much must go.
  private let needed: EntryTally.Count
  /// How many more may go.
  private let spareCount: Int
  private var candidates: [Victim] = []
  private var keyBytes = 0
  private var room = Self.smallestRoom
  /// Whether `candidates` are what `choose` has left.
  private var isChosen = false
  private var isEnough = false
  private var isBeginning = false
  /// The last of as many candidates as can be chosen: what comes after it stays.
  private var limit: Victim?

  package init(needed: EntryTally.Count, spareCount: Int) {
    self.needed = needed
    self.spareCount = min(spareCount, Self.maximumCount / 4)
  }

  /// Considers another candidate.
  package mutating func offer(_ candidate: Victim) {
    if let limit, limit < candidate { return }
    candidates.append(candidate)
    keyBytes += candidate.key.text.utf8.count
    isChosen = false
    if candidates.count >= room || keyBytes >= 2 * Self.maximumKeyBytes { drop() }
  }

  /// Chooses from the candidates offered so far. Cost: a sort of those that were kept; nothing if none was offered since.
  package mutating func choose() -> Choice {
    if !isChosen { drop() }
    return Choice(victims: candidates, isEnough: isEnough, isBeginning: isBeginning)
  }

  /// Sorts the candidates, and drops those that are not chosen.
  private mutating func drop() {
    candidates.sort()
    let count = neededCount()
    let kept = isEnough ? min(count + spareCount, candidates.count) : count
    let isFull = isEnough ? kept == count + spareCount : kept < candidates.count
    limit = isFull ? candidates[..<kept].last : nil
    candidates.removeSubrange(kept...)
    keyBytes = candidates.reduce(0) { $0 + $1.key.text.utf8.count }
    room = max(Self.smallestRoom, 2 * kept)
    isChosen = true
  }

  /// How many of the first candidates are needed, as far as memory allows.
  private mutating func neededCount() -> Int {
    var (total, bytes, count) = (EntryTally.Count(), 0, 0)
    while !total.covers(needed), count < candidates.count {
      bytes += candidates[count].key.text.utf8.count
      guard count < Self.maximumCount, bytes <= Self.maximumKeyBytes || count == 0 else {
        isBeginning = true
        break
      }
      total += candidates[count]
      count += 1
    }
    isEnough = total.covers(needed)
    return count
  }
}
