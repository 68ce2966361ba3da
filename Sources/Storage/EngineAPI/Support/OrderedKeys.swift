/// Sorted keys, in which one key can be inserted or removed without moving all the others.
///
/// Sorted chunks of at most `chunkCapacity` keys, none of them empty, hold the keys in order. A change searches the
/// chunks, then moves keys within one of them. A full chunk is split in half, and an empty one is removed.
struct OrderedKeys: Sendable {
  /// The most keys that a chunk holds.
  static let chunkCapacity = 256

  private var chunks: [[CacheKey]]

  /// Sorts `keys`, which must all be different. Cost: a sort.
  init(_ keys: some Collection<CacheKey>) {
    let sorted = keys.sorted()
    // Half full, which leaves room for insertions.
    let size = Self.chunkCapacity / 2
    chunks = stride(from: 0, to: sorted.count, by: size).map { Array(sorted[$0..<min($0 + size, sorted.count)]) }
  }

  /// Adds `key`, which must not be there yet. Cost: two binary searches, and a move of at most one chunk.
  mutating func insert(_ key: CacheKey) {
    guard !chunks.isEmpty else { return chunks.append([key]) }
    let chunk = max(0, chunks.partitioningIndex { $0[0] > key } - 1)
    chunks[chunk].insert(key, at: chunks[chunk].partitioningIndex { $0 > key })
    guard chunks[chunk].count == Self.chunkCapacity else { return }
    let half = Self.chunkCapacity / 2
    chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
    chunks[chunk].removeSubrange(half...)
  }

  /// Removes `key`, if it is there. Cost: the same as `insert`.
  mutating func remove(_ key: CacheKey) {
    let chunk = chunks.partitioningIndex { $0[0] > key } - 1
    guard chunk >= 0 else { return }
    let place = chunks[chunk].partitioningIndex { $0 >= key }
    guard place < chunks[chunk].count, chunks[chunk][place] == key else { return }
    chunks[chunk].remove(at: place)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// The first `limit` keys that `request` visits, in its order. Cost: two binary searches, plus the keys found.
  func keys(in request: ScanRequest, limit: Int) -> [CacheKey] {
    let (lower, upper) = request.bounds
    var found: [CacheKey] = []
    guard lower < upper else { return found }
    let first = chunks.partitioningIndex { $0[$0.count - 1].text >= lower }
    let end = chunks.partitioningIndex { $0[0].text >= upper }
    for step in 0..<max(0, end - first) {
      let chunk = chunks[request.isDescending ? end - 1 - step : first + step]
      let keys = chunk[chunk.partitioningIndex { $0.text >= lower }..<chunk.partitioningIndex { $0.text >= upper }]
      let room = limit - found.count
      if request.isDescending { found += keys.suffix(room).reversed() } else { found += keys.prefix(room) }
      if found.count == limit { break }
    }
    return found
  }
}

extension Array {
  /// The first index whose element satisfies `belongsToSecondHalf`. All elements that do must come after all that do
  /// not.
  fileprivate func partitioningIndex(where belongsToSecondHalf: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if belongsToSecondHalf(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
