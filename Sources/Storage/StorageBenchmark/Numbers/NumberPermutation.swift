internal import StorageSPI

/// All numbers below a count, each once, in an order without a pattern that a tree of keys would notice: for loading in
/// random order.
///
/// It walks by a fixed stride, coprime to the count and near its golden section, from a start that the seed decides. It
/// takes no memory and finds any position at once, so that several workers can share it.
struct NumberPermutation: Sendable {
  private let count: UInt64
  private let stride: UInt64
  private let start: UInt64

  /// The permutation of `count` numbers, 1 to 2^31, for `seed`.
  init(count: UInt64, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.count = count
    start = random.below(count)
    stride = Self.stride(count)
  }

  /// The number at `position`, which is below the count.
  subscript(position: UInt64) -> UInt64 {
    (stride &* position % count + start) % count
  }

  private static func stride(_ count: UInt64) -> UInt64 {
    var stride = max(1, UInt64(Double(count) * 0.618_033_988_749_895))
    while divisor(stride, count) != 1 { stride += 1 }
    return stride
  }

  /// The greatest common divisor (Euclid).
  private static func divisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    right == 0 ? left : divisor(right, left % right)
  }
}
