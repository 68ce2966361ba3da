internal import StorageSPI

/// Chooses, out of any number of candidates that are shown one after another, those that go first: as few as are
/// needed, and then some more, so that not every write has to choose.
///
/// Memory stays bounded: at most `maximumCount` candidates and `maximumKeyBytes` bytes of their keys are kept. Where that
/// is less than what is needed, the selection is a beginning: the candidates that go first of all.
struct VictimSelection {
  static let maximumCount = 1 << 16
  static let maximumKeyBytes = 8 << 20

  /// What has to go.
  private let needed: EntryTally.Count
  /// How many may go beyond that.
  private let spareCount: Int
  /// The fewest that go first and are enough.
  private var victims = MaxHeap<EvictionCandidate>()
  private var total = EntryTally.Count()
  private var keyBytes = 0
  /// Those that come next.
  private var spare = MaxHeap<EvictionCandidate>()
  /// Whether candidates were passed over for want of memory.
  private(set) var isBeginning = false

  init(needed: EntryTally.Count, spareCount: Int) {
    self.needed = needed
    self.spareCount = min(spareCount, Self.maximumCount / 4)
  }

  /// Whether what was chosen is as much as is needed.
  var isEnough: Bool { total.covers(needed) }

  /// What was chosen, those that go first before the others.
  var chosen: [EvictionCandidate] { (victims.elements + (isEnough ? spare.elements : [])).sorted() }

  /// Considers one more candidate.
  mutating func offer(_ candidate: EvictionCandidate) {
    if isEnough, let last = spareCount > 0 ? spare.largest : victims.largest, last < candidate,
      spare.count >= spareCount
    {
      return
    }
    victims.insert(candidate)
    total += candidate
    keyBytes += candidate.key.text.utf8.count
    while let largest = victims.largest, isEnough(without: largest) {
      takeLargest()
      keepAsSpare(largest)
    }
    while victims.count > Self.maximumCount || (keyBytes > Self.maximumKeyBytes && victims.count > 1) {
      takeLargest()
      isBeginning = true
    }
  }

  private func isEnough(without candidate: EvictionCandidate) -> Bool {
    var rest = total
    rest -= candidate
    return rest.covers(needed)
  }

  private mutating func takeLargest() {
    guard let candidate = victims.removeLargest() else { return }
    total -= candidate
    keyBytes -= candidate.key.text.utf8.count
  }

  private mutating func keepAsSpare(_ candidate: EvictionCandidate) {
    guard spareCount > 0 else { return }
    spare.insert(candidate)
    if spare.count > spareCount { _ = spare.removeLargest() }
  }
}
