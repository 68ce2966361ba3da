/// A deterministic generator: the same seed gives the same numbers on every machine, so that a failure can be repeated.
///
/// It is SplitMix64, from G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA
/// 2014), with the constants of S. Vigna's reference implementation. It is not for cryptography.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator whose numbers depend on `seed` alone.
  public init(seed: UInt64) { state = seed }

  /// The next number, any of 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SeededGenerator {
  /// A generator that depends on `seed` and `name`, so that a check sees the same numbers alone as among others.
  init(seed: UInt64, name: String) { self.init(seed: seed ^ Self.hash(name)) }

  /// The hash of `name` by FNV-1a (Fowler, Noll and Vo), 64 bits: the same on every machine.
  static func hash(_ name: String) -> UInt64 {
    name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }

  /// Whether an event of the probability `percent` in a hundred happens.
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
