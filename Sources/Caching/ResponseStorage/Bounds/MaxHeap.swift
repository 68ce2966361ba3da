/// A binary heap with quick access to its largest element. Cost of a change: logarithmic in the number of elements.
struct MaxHeap<Element: Comparable> {
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
