internal import StorageSPI

extension SeededGenerator {
  /// A generator that depends only on `seed` and `name`, so that a check sees the same numbers alone as among others.
  init(seed: UInt64, name: String) { self.init(seed: seed ^ FNV1a.hash(name.utf8)) }

  /// Whether an event with a probability of `percent` in a hundred happens.
  mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// `count` random bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let word = next()
      for shift in stride(from: 0, to: min(8, count - bytes.count) * 8, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes
  }
}
