internal import Glibc
internal import StorageSPI

/// Numbers from 0 of which the first is drawn most often, the second about half as often, and so on: number `k` in
/// proportion to `1 / (k + 1)^theta`.
///
/// The method is that of Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), as YCSB
/// uses it: exact for the first two numbers, an approximation by a power of a uniform number for the others, and
/// constant in time once the sum `zeta(n) = 1/1^theta + ... + 1/n^theta` is known. The items may become more: the sum
/// goes on from where it was.
struct ZipfianDistribution: Sendable {
  /// The exponent of YCSB.
  static let standardTheta = 0.99

  let theta: Double
  /// How many numbers there are.
  private(set) var count: UInt64
  /// The sum over all numbers: the first is drawn in one of `zeta` cases.
  private(set) var zeta: Double
  private let alpha: Double
  private let zetaOfTwo: Double
  private var eta: Double

  /// The distribution of `count` numbers, 1 or more. Cost: one power for each of them, unless `zeta`, the sum, is known.
  init(count: UInt64, theta: Double = Self.standardTheta, zeta: Double? = nil) {
    self.theta = theta
    self.count = count
    alpha = 1 / (1 - theta)
    zetaOfTwo = Self.zeta(from: 0, to: 2, theta: theta)
    self.zeta = if let zeta { zeta } else { Self.zeta(from: 0, to: count, theta: theta) }
    eta = 0
    eta = currentEta
  }

  /// Adds the numbers up to `count`; fewer than there are leave the distribution as it is. Cost: one power for each.
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

  /// `sum` and the terms number `start` up to `end`, not itself added, counted from 0.
  static func zeta(from start: UInt64, to end: UInt64, theta: Double, sum: Double = 0) -> Double {
    var sum = sum
    for number in start..<end { sum += 1 / pow(Double(number + 1), theta) }
    return sum
  }

  private var currentEta: Double {
    (1 - pow(2 / Double(count), 1 - theta)) / (1 - zetaOfTwo / zeta)
  }
}
