/// How long leases hold, and how to wait.
public struct LeaseTiming: Sendable {
  /// How long a lease holds without a renewal; more than zero. The holder renews it three times in that time. If a
  /// holder disappears in a way that other processes cannot detect, they wait this long.
  public let duration: Duration
  /// Waits for a duration. Throws as soon as its task is cancelled.
  public let sleep: @Sendable (Duration) async throws -> Void

  /// Creates timing; by default a lease holds for thirty seconds.
  public init(
    duration: Duration = .seconds(30),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.duration = duration
    self.sleep = sleep
  }

  /// How often a lease is renewed.
  var renewal: Duration { duration / 3 }
}
