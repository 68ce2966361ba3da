internal import StorageSPI

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
    case .scrambled(let zipfian): return Self.draw(zipfian, count: count, &random)
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

  private static func draw(_ zipfian: ScrambledZipfian, count: UInt64, _ random: inout SeededGenerator) -> UInt64 {
    while true {
      let number = zipfian.next(&random)
      if number < count { return number }
    }
  }
}
