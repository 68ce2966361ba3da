internal import StorageSPI

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

/// How long to wait for another process's lease, and when to stop believing in it.
///
/// A holder renews its lease several times before it runs out. A lease that has not changed for its whole duration has
/// no holder, even if by this machine's clock it holds for hours: the clocks differ, or one was set.
struct LeaseWait: Sendable {
  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(250)

  /// How long a lease holds without a renewal.
  let duration: Duration
  private var version: UInt64?
  private var unchanged = Duration.zero
  private var pause = Self.firstPause

  init(duration: Duration) {
    self.duration = duration
  }

  /// Records the version of the lease that was found.
  mutating func note(version: UInt64) {
    if version != self.version { unchanged = .zero }
    self.version = version
  }

  /// Whether the lease has been looked at before.
  var hasBegun: Bool { version != nil }

  /// Whether the lease has not changed for so long that it can have no holder.
  var isOver: Bool { unchanged >= duration }

  /// Whether the lease can be neither waited for nor taken over: the store does not work as it should.
  var isHopeless: Bool { unchanged >= duration * 2 }

  /// Returns how long to wait before the next look, and counts it as waited. It doubles each time, up to a quarter of a
  /// second.
  mutating func nextPause() -> Duration {
    defer { pause = min(pause * 2, Self.longestPause) }
    unchanged += pause
    return pause
  }
}
