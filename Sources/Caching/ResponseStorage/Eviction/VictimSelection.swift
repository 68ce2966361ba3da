package import StorageSPI

/// Chooses the candidates to evict first from a stream of any length: as few as are needed, plus a few spare ones, so
/// that not every write has to choose.
///
/// It collects candidates in an array. Each time the array has doubled in size, it sorts the array and keeps only the
/// candidates that it would evict.
///
/// Memory is bounded: apart from the spare ones, a choice holds at most `maximumCount` candidates and `maximumKeyBytes`
/// bytes of keys. If more would have to go, it holds those that go first.
package struct VictimSelection: Sendable {
  static let maximumCount = 1 << 16
  static let maximumKeyBytes = 8 << 20
  /// The number of candidates to collect before the first sort.
  private static let smallestRoom = 256

  /// The candidates to evict, out of all that were offered so far.
  package struct Choice: Sendable {
    /// The chosen candidates, in the order of eviction.
    package let victims: [Victim]
    /// Whether evicting them makes enough room.
    package let isEnough: Bool
    /// Whether more candidates would have to go than fit into memory.
    package let isBeginning: Bool
  }

  /// How much must go.
  private let needed: EntryTally.Count
  /// How many more may go.
  private let spareCount: Int
  private var candidates: [Victim] = []
  private var keyBytes = 0
  private var room = Self.smallestRoom
  /// Whether no candidate has been added since the last sort.
  private var isChosen = false
  private var isEnough = false
  private var isBeginning = false
  /// The last candidate of a full choice: any that comes after it stays in the store.
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

  /// Chooses among the candidates offered so far. Cost: one sort, or nothing if no candidate was added since the last
  /// call.
  package mutating func choose() -> Choice {
    if !isChosen { drop() }
    return Choice(victims: candidates, isEnough: isEnough, isBeginning: isBeginning)
  }

  /// Sorts the candidates and drops all but the chosen ones.
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

  /// The number of candidates that have to go, or as many of them as fit into memory.
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
