internal import StorageSPI

/// Numbers that are drawn as unevenly as those of a zipfian distribution, but of which the popular ones lie anywhere: what
/// YCSB means by "zipfian".
///
/// As in YCSB (`ScrambledZipfianGenerator`) a number is drawn out of ten thousand million, hashed, and taken modulo the
/// number of items. So the popularity of an item stays what it is when items are added, and no sum has to be made: the
/// most popular item has a share of `1 / zeta(10^10)`, 3.78 %, and a little more by the hash.
struct ScrambledZipfian: Sendable {
  /// How many numbers are drawn from before the hash.
  static let drawnCount: UInt64 = 10_000_000_000

  /// `zeta(drawnCount)` for an exponent of 0.99, as YCSB has it.
  static let drawnZeta = 26.46902820178302

  let count: UInt64
  private let drawn = ZipfianDistribution(count: Self.drawnCount, zeta: Self.drawnZeta)

  /// The distribution over `count` items, 1 or more.
  init(count: UInt64) { self.count = count }

  /// Draws a number below `count`.
  func next(_ random: inout SeededGenerator) -> UInt64 { FNVHash.hash(drawn.next(&random)) % count }
}
