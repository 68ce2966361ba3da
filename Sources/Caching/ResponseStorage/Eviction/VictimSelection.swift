package import StorageSPI

/// Chooses the candidates to evict first from a stream of any length: as few as are needed, plus a few spare ones, so
/// that not every write has to choose.
///
/// Memory is bounded: the selection keeps at most `maximumCount` candidates and `maximumKeyBytes` bytes of keys. If
/// that is less than what is needed, it chooses only the candidates that go first of all.
package struct VictimSelection: Sendable {
  static let maximumCount = 1 << 16
  static let maximumKeyBytes = 8 << 20

  /// How much must go.
  private let needed: EntryTally.Count
  /// How many more may go.
  private let spareCount: Int
  /// The smallest set that is enough, of the candidates that go first.
  private var victims = MaxHeap<Victim>()
  private var total = EntryTally.Count()
  private var keyBytes = 0
  /// The candidates that come after those.
  private var spare = MaxHeap<Victim>()
  /// Whether the limits on memory made the selection drop candidates that are needed.
  private(set) var isBeginning = false

  package init(needed: EntryTally.Count, spareCount: Int) {
    self.needed = needed
    self.spareCount = min(spareCount, Self.maximumCount / 4)
  }

  /// Whether the victims are enough.
  package var isEnough: Bool { total.covers(needed) }

  /// The number of chosen candidates.
  package var count: Int { victims.count + (isEnough ? spare.count : 0) }

  /// The chosen candidates, in the order of eviction.
  package var chosen: [Victim] { (victims.elements + (isEnough ? spare.elements : [])).sorted() }

  /// Considers another candidate.
  package mutating func offer(_ candidate: Victim) {
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

  private func isEnough(without candidate: Victim) -> Bool {
    var rest = total
    rest -= candidate
    return rest.covers(needed)
  }

  private mutating func takeLargest() {
    guard let candidate = victims.removeLargest() else { return }
    total -= candidate
    keyBytes -= candidate.key.text.utf8.count
  }

  private mutating func keepAsSpare(_ candidate: Victim) {
    guard spareCount > 0 else { return }
    spare.insert(candidate)
    if spare.count > spareCount { _ = spare.removeLargest() }
  }
}

/// A binary heap with quick access to its largest element. Cost of a change: logarithmic in the number of elements.
struct MaxHeap<Element: Comparable & Sendable>: Sendable {
  /// The elements. The children of index `i` are at `2 * i + 1` and `2 * i + 2`, and are no larger.
  private(set) var elements: [Element] = []

  var count: Int { elements.count }
  /// The largest element; `nil` if the heap is empty.
  var largest: Element? { elements.first }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[parent] < elements[child] else { return }
      elements.swapAt(parent, child)
      child = parent
    }
  }

  /// Removes and returns the largest element; `nil` if the heap is empty.
  mutating func removeLargest() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let largest = elements.first else { return last }
    elements[0] = last
    sink()
    return largest
  }

  /// Moves the first element down to its place.
  private mutating func sink() {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < elements.count else { return }
      if child + 1 < elements.count, elements[child] < elements[child + 1] { child += 1 }
      guard elements[parent] < elements[child] else { return }
      elements.swapAt(parent, child)
      parent = child
    }
  }
}
