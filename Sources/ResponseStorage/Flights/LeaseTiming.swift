/// How long leases hold, and what waiting is.
public struct LeaseTiming: Sendable {
  /// How long a lease holds that is not renewed; more than zero. It is renewed each third of that. For so long others
  /// wait for a holder that is gone without their being able to know it.
  public let duration: Duration
  /// Waits for a time, and throws as soon as its task is cancelled.
  public let sleep: @Sendable (Duration) async throws -> Void

  /// Timing with the given values.
  public init(
    duration: Duration = .seconds(30),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.duration = duration
    self.sleep = sleep
  }

  /// After what time a lease is renewed.
  var renewal: Duration { duration / 3 }
}
