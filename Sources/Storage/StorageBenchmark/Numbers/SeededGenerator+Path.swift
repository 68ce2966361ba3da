internal import StorageSPI

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
