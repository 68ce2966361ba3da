internal import CacheBase

/// Draws the numbers of entries.
struct KeyChooser: Sendable {
  private let count: UInt64
  private let zipfian: ZipfianDistribution?

  /// A chooser among `count` entries, 1 or more.
  init(count: Int, isZipfian: Bool) {
    self.count = UInt64(count)
    zipfian = isZipfian ? ZipfianDistribution() : nil
  }

  /// Draws an entry.
  ///
  /// As in YCSB ("zipfian", `ScrambledZipfianGenerator`) a number is drawn from ten thousand million, hashed, and taken
  /// modulo the number of entries: the popular ones are anywhere. The most popular one has a share of 1 in
  /// `ZipfianDistribution.zeta`, 3.78 %, and a little more through the hash.
  @inline(__always)
  func next(_ random: inout SeededGenerator) -> Int {
    guard let zipfian else { return Int(truncatingIfNeeded: random.below(count)) }
    return Int(truncatingIfNeeded: Self.hash(zipfian.next(&random)) % count)
  }

  /// YCSB's hash: FNV-1a of the eight bytes of `number`, which is at most 2^63, least significant first, without the
  /// sign.
  @inline(__always)
  static func hash(_ number: UInt64) -> UInt64 {
    let hash = withUnsafeBytes(of: number.littleEndian) { FNV1a.hash($0) }
    return Int64(bitPattern: hash).magnitude
  }
}

/// Numbers from 0, drawn with falling frequency: the first most often, the second about half as often, number `k` in
/// proportion to `1 / (k + 1)^0.99`.
///
/// The method is from Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), as in YCSB:
/// exact for the first two numbers, an approximation by a power of a uniform number for the others.
struct ZipfianDistribution: Sendable {
  /// The exponent of YCSB.
  static let theta = 0.99
  /// The number of numbers.
  static let count = 10_000_000_000.0
  /// The sum over all numbers, `1/1^theta + ... + 1/count^theta`, as in YCSB: one in `zeta` draws is the first number.
  static let zeta = 26.46902820178302

  private let zetaOfTwo = 1 + 1 / pow(2, Self.theta)
  private let alpha = 1 / (1 - Self.theta)
  private let eta =
    (1 - pow(2 / Self.count, 1 - Self.theta)) / (1 - (1 + 1 / pow(2, Self.theta)) / Self.zeta)

  /// Draws a number below `count`.
  func next(_ random: inout SeededGenerator) -> UInt64 {
    let uniform = random.unit()
    let scaled = uniform * Self.zeta
    if scaled < 1 { return 0 }
    if scaled < zetaOfTwo { return 1 }
    return UInt64(min(Self.count - 1, Self.count * pow(eta * uniform - eta + 1, alpha)))
  }
}

/// All numbers below a count, each once, in an order without a pattern that a tree of keys would notice: for loading in
/// random order.
///
/// It walks by a fixed stride, coprime to the count and near its golden section, from a start that the seed decides. It
/// takes no memory and finds any position at once: several workers can share it.
struct NumberPermutation: Sendable {
  private let count: UInt64
  private let stride: UInt64
  private let start: UInt64

  /// The permutation of `count` numbers, 1 to 2^31, for `seed`.
  init(count: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.count = UInt64(count)
    start = random.below(self.count)
    stride = Self.stride(self.count)
  }

  /// The number at `position`, which is below the count.
  subscript(position: Int) -> Int { Int((stride &* UInt64(position) % count + start) % count) }

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

extension SeededGenerator {
  /// A generator for one part of something larger, such as a worker of a phase: its numbers depend on the seed and on
  /// all of `path`, and are independent of those for other paths.
  init(seed: UInt64, path: Int...) {
    self.init(seed: path.reduce(Self.mixed(seed)) { Self.mixed($0 &+ Self.step &* (UInt64($1) &+ 1)) })
  }

  /// The next number from 0 up to, but not including, `count`, which is positive. The bias is below `count` in 2^64
  /// (Lemire's multiplication, without its correction).
  @inline(__always)
  mutating func below(_ count: UInt64) -> UInt64 { next().multipliedFullWidth(by: count).high }
}
