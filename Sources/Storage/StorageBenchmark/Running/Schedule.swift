/// When operations should start. Without a target rate that is now. With one it is the next point of a fixed grid,
/// however late the operations before it were, so that waiting for them counts (see `LatencyHistogram`).
struct Schedule: Sendable {
  /// How long a wait lasts before it checks for cancellation, in nanoseconds.
  private static let slice: UInt64 = 50_000_000

  private let start: UInt64
  private let interval: Double?
  private var count = 0.0

  init(start: UInt64, interval: Double?) { (self.start, self.interval) = (start, interval) }

  /// Whether there is a target rate.
  var isPaced: Bool { interval != nil }

  /// Waits for the intended start of the next operation, and returns it.
  mutating func start(_ probe: BenchmarkProbe) -> UInt64 {
    guard let interval else { return probe.now() }
    let intended = start + UInt64(interval * count)
    count += 1
    while true {
      let now = probe.now()
      guard now < intended, !Task.isCancelled else { return intended }
      probe.waitUntil(min(intended, now + Self.slice))
    }
  }
}
