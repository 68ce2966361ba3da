/// A reproducible random number generator: the same seed gives the same numbers on every machine.
///
/// It is SplitMix64, from G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA
/// 2014), with the constants of S. Vigna's reference implementation. Not for cryptography.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  @usableFromInline
  var state: UInt64

  /// Creates a generator whose numbers depend only on `seed`.
  @inlinable
  public init(seed: UInt64) { state = seed }

  /// The next 64-bit number.
  @inlinable
  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  /// The next number from 0 to 1, excluding 1, in steps of 2^-53.
  @inlinable
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// The step of the state from one number to the next.
  @inlinable
  public static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// Mixes `value`: each bit affects all bits of the result, and different values have different results.
  @inlinable
  public static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
