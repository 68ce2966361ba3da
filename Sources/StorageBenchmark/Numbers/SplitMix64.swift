/// A generator of random numbers that repeats itself for the same seed (SplitMix64; Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator whose numbers depend on `seed` alone.
  public init(seed: UInt64) { state = seed }

  /// A generator for one part of something larger, such as a worker of a phase: its numbers depend on the seed and on
  /// all of `path`, and have nothing to do with those of another path.
  init(seed: UInt64, path: UInt64...) {
    state = path.reduce(Self.mixed(seed)) { Self.mixed($0 &+ Self.step &* ($1 &+ 1)) }
  }

  /// The next number, any of 64 bits.
  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  /// The next number from 0 up to `count`, which is positive and not itself reached. The bias is below `count` in 2^64
  /// (Lemire's multiplication, without its correction).
  @inline(__always)
  mutating func below(_ count: UInt64) -> UInt64 { next().multipliedFullWidth(by: count).high }

  /// The next number from 0 up to 1, not itself reached, in steps of 2^-53.
  @inline(__always)
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// `value` with each of its bits spread over all bits of the result, one to one.
  @inline(__always)
  static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
