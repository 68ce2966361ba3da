internal import StorageSPI

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
  func next(_ random: inout SeededGenerator) -> UInt64 { FNVHash.hash(drawn.next(&random)) % count }
}
