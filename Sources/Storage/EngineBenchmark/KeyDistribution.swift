internal import CacheBase

/// How the operations of a phase choose entries.
public enum KeyDistribution: String, Sendable, Hashable, CaseIterable {
  /// All entries equally often.
  case uniform
  /// A few entries most of the time, scattered over all keys: YCSB's (scrambled) zipfian, with an exponent of 0.99.
  case zipfian
  /// The newest entries most of the time: zipfian by age.
  case latest
  /// One after the other in the order of keys, starting over at the end.
  case sequential
}

/// Draws the numbers of entries for one worker.
struct KeyChooser: Sendable {
  private enum Method: Sendable {
    case uniform
    case scrambled(ScrambledZipfian)
    case latest(ZipfianDistribution)
    case sequential(next: UInt64)
  }

  private var method: Method

  /// A chooser that starts with `count` entries, 1 or more.
  ///
  /// - Parameters:
  ///   - expected: the number of entries at the end. As in YCSB the zipfian distribution covers all of them, and a draw
  ///     of one that does not exist yet is repeated, so that popular entries stay popular.
  ///   - worker: the number of this worker, out of `workers`: each begins a sequence at a different place.
  init(_ distribution: KeyDistribution, count: UInt64, expected: UInt64, worker: Int = 0, workers: Int = 1) {
    method =
      switch distribution {
      case .uniform: .uniform
      case .zipfian: .scrambled(ScrambledZipfian(count: max(count, expected)))
      case .latest: .latest(ZipfianDistribution(count: count))
      case .sequential: .sequential(next: count * UInt64(worker) / UInt64(max(1, workers)))
      }
  }

  /// Draws one of the current `count` entries, 1 or more and never fewer than before.
  @inline(__always)
  mutating func next(count: UInt64, _ random: inout SeededGenerator) -> UInt64 {
    switch method {
    case .uniform: return random.below(count)
    case .scrambled(let zipfian):
      while true {
        let number = zipfian.next(&random)
        if number < count { return number }
      }
    case .latest(var zipfian):
      if count > zipfian.count {
        zipfian.grow(to: count)
        method = .latest(zipfian)
      }
      return count - 1 - zipfian.next(&random)
    case .sequential(let next):
      let number = next < count ? next : 0
      method = .sequential(next: number + 1)
      return number
    }
  }
}

/// Numbers from 0, drawn with falling frequency: the first most often, the second about half as often, number `k` in
/// proportion to `1 / (k + 1)^theta`.
///
/// The method is from Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), as in YCSB:
/// exact for the first two numbers, an approximation by a power of a uniform number for the others, and constant in
/// time once the sum `zeta(n) = 1/1^theta + ... + 1/n^theta` is known. When items are added, the sum is continued.
struct ZipfianDistribution: Sendable {
  /// The exponent of YCSB.
  static let standardTheta = 0.99

  let theta: Double
  /// The number of items.
  private(set) var count: UInt64
  /// The sum over all numbers: one in `zeta` draws is the first number.
  private(set) var zeta: Double
  private let alpha: Double
  private let zetaOfTwo: Double
  private var eta: Double

  /// The distribution of `count` numbers, 1 or more. Cost: one power per number, unless `zeta`, the sum, is given.
  init(count: UInt64, theta: Double = Self.standardTheta, zeta: Double? = nil) {
    self.theta = theta
    self.count = count
    alpha = 1 / (1 - theta)
    zetaOfTwo = Self.zeta(from: 0, to: 2, theta: theta)
    self.zeta = if let zeta { zeta } else { Self.zeta(from: 0, to: count, theta: theta) }
    eta = 0
    eta = currentEta
  }

  /// Adds the numbers up to `count`, unless there are as many already. Cost: one power per added number.
  mutating func grow(to count: UInt64) {
    guard count > self.count else { return }
    zeta = Self.zeta(from: self.count, to: count, theta: theta, sum: zeta)
    self.count = count
    eta = currentEta
  }

  /// Draws a number below `count`.
  func next(_ random: inout SeededGenerator) -> UInt64 {
    let uniform = random.unit()
    let scaled = uniform * zeta
    if scaled < 1 || count < 2 { return 0 }
    if scaled < zetaOfTwo || count < 3 { return 1 }
    return min(count - 1, UInt64(Double(count) * pow(eta * uniform - eta + 1, alpha)))
  }

  /// `sum` plus the terms from `start` up to, but not including, `end`, counted from 0.
  static func zeta(from start: UInt64, to end: UInt64, theta: Double, sum: Double = 0) -> Double {
    var sum = sum
    for number in start..<end { sum += 1 / pow(Double(number + 1), theta) }
    return sum
  }

  private var currentEta: Double {
    (1 - pow(2 / Double(count), 1 - theta)) / (1 - zetaOfTwo / zeta)
  }
}

/// Numbers drawn as unevenly as a zipfian distribution, but with the popular ones anywhere: YCSB's "zipfian".
///
/// As in YCSB (`ScrambledZipfianGenerator`) a number is drawn from ten thousand million, hashed, and taken modulo the
/// number of items. So the popularity of an item does not change when items are added, and no sum has to be computed:
/// the most popular item has a share of `1 / zeta(10^10)`, 3.78 %, and a little more through the hash.
struct ScrambledZipfian: Sendable {
  /// How many numbers to draw from before hashing.
  static let drawnCount: UInt64 = 10_000_000_000

  /// `zeta(drawnCount)` for an exponent of 0.99, as in YCSB.
  static let drawnZeta = 26.46902820178302

  let count: UInt64
  private let drawn = ZipfianDistribution(count: Self.drawnCount, zeta: Self.drawnZeta)

  /// The distribution over `count` items, 1 or more.
  init(count: UInt64) { self.count = count }

  /// Draws a number below `count`.
  func next(_ random: inout SeededGenerator) -> UInt64 { Self.hash(drawn.next(&random)) % count }

  /// YCSB's hash: FNV-1a of the eight bytes of `number`, which is at most 2^63, least significant first, without the
  /// sign.
  @inline(__always)
  static func hash(_ number: UInt64) -> UInt64 {
    let hash = withUnsafeBytes(of: number.littleEndian) { FNV1a.hash($0) }
    return Int64(bitPattern: hash).magnitude
  }
}

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

extension SeededGenerator {
  /// A generator for one part of something larger, such as a worker of a phase: its numbers depend on the seed and on
  /// all of `path`, and are independent of those for other paths.
  init(seed: UInt64, path: UInt64...) {
    self.init(seed: path.reduce(Self.mixed(seed)) { Self.mixed($0 &+ Self.step &* ($1 &+ 1)) })
  }

  /// The next number from 0 up to, but not including, `count`, which is positive. The bias is below `count` in 2^64
  /// (Lemire's multiplication, without its correction).
  @inline(__always)
  mutating func below(_ count: UInt64) -> UInt64 { next().multipliedFullWidth(by: count).high }
}
