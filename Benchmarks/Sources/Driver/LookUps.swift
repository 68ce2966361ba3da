internal import Platform
internal import StorageBenchmark

/// The look-ups of a generated trace.
struct LookUps {
  /// The keys that are looked up, in order.
  let keys: [Int]
  private let keyCount: Int

  /// The first of the look-ups of `trace`, a `divisor`th of them.
  init(_ trace: GeneratedTrace, divisor: Int) {
    let trace = trace.trace()
    keys = trace.lookUps.prefix(trace.lookUps.count / divisor).map { Int($0) }
    keyCount = trace.keyCount
  }

  /// Writes them to the file at `path`, with values of 1,000 bytes, as `cachectl simulate` reads it.
  func write(to path: String) throws(Measured.Failed) {
    let bytes = Array(keys.map { "\($0) 1000\n" }.joined(separator: "").utf8)
    guard let file = fopen(path, "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count, fclose(file) == 0 else {
      throw Measured.Failed(what: "\(path) cannot be written")
    }
  }

  /// How many of them a cache of `capacity` entries answers that evicts exactly the least recently used.
  func hits(ofLeastRecentlyUsed capacity: Int) -> Int {
    // When each key that is held was looked up last; -1 for the others.
    var lastUse = [Int](repeating: -1, count: keyCount)
    var (held, oldest, hits) = (0, 0, 0)
    for (time, key) in keys.enumerated() {
      if lastUse[key] >= 0 {
        hits += 1
      } else if held < capacity {
        held += 1
      } else {
        while lastUse[keys[oldest]] != oldest { oldest += 1 }
        lastUse[keys[oldest]] = -1
      }
      lastUse[key] = time
    }
    return hits
  }
}
