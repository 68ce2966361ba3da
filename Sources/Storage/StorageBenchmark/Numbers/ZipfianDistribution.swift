internal import Glibc
internal import StorageSPI

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
