/// A generator of random numbers that repeats itself: the same seed gives the same numbers on every machine.
///
/// It is SplitMix64, from G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA
/// 2014), with the constants of S. Vigna's reference implementation. It is not for cryptography.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  @usableFromInline
  var state: UInt64

  /// A generator whose numbers depend on `seed` alone.
  @inlinable
  public init(seed: UInt64) { state = seed }

  /// The next number, any of 64 bits.
  @inlinable
  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  /// The next number from 0 up to 1, not itself reached, in steps of 2^-53.
  @inlinable
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// How far the state moves for each number.
  @inlinable
  public static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// `value` with each of its bits spread over all bits of the result, one to one.
  @inlinable
  public static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
