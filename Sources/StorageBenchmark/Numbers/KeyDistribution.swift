internal import StorageSPI

/// How the operations of a phase choose their entries.
public enum KeyDistribution: String, Sendable, Hashable, CaseIterable {
  /// Each entry as often as any other.
  case uniform
  /// A few entries most of the time, scattered over all keys: YCSB's (scrambled) zipfian, with an exponent of 0.99.
  case zipfian
  /// The newest entries most of the time: zipfian by age.
  case latest
  /// One after the other in the order of the keys, beginning again at the end.
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

  /// A chooser among `count` entries at the beginning, 1 or more.
  ///
  /// - Parameters:
  ///   - expected: how many entries there may be at the end. As in YCSB the zipfian distribution is over all of these,
  ///     and a draw of one that is not there yet is repeated, so that the popular entries remain so.
  ///   - worker: which worker this is, of `workers`: they begin a sequence at different places.
  init(_ distribution: KeyDistribution, count: UInt64, expected: UInt64, worker: Int = 0, workers: Int = 1) {
    method =
      switch distribution {
      case .uniform: .uniform
      case .zipfian: .scrambled(ScrambledZipfian(count: max(count, expected)))
      case .latest: .latest(ZipfianDistribution(count: count))
      case .sequential: .sequential(next: count * UInt64(worker) / UInt64(max(1, workers)))
      }
  }

  /// Draws an entry out of the `count` that there are now, 1 or more and never fewer than before.
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
