import EngineAPI

/// How long calls of an engine took.
struct Waiting {
  private(set) var longest = Duration.zero
  private let clock = ContinuousClock()
  private let start = ContinuousClock().now

  /// The time since the beginning, after which a process gives up that waits for others.
  static let limit = Duration.seconds(1_800)

  mutating func measure<Output>(
    _ body: () async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let before = clock.now
    let output = try await body()
    longest = max(longest, clock.now - before)
    guard clock.now - start < Self.limit else { throw CacheError(.busy, "gave up after \(Self.limit)") }
    return output
  }

  /// Tells the longest time, in milliseconds.
  func report() { Line.write("LONGEST \(Int(longest / .milliseconds(1)))") }
}
