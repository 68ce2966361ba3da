internal import StorageSPI

/// How long one waits for somebody else's lease, and when one stops believing in it.
///
/// A holder renews its lease several times within the time for which it holds. One that was seen unchanged for that
/// long is held by nobody, even if by this machine's clock it holds for hours: the clocks differ, or one was set.
struct LeaseWait: Sendable {
  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(250)

  /// How long a lease holds that is not renewed.
  let duration: Duration
  private var version: UInt64?
  private var unchanged = Duration.zero
  private var pause = Self.firstPause

  init(duration: Duration) {
    self.duration = duration
  }

  /// Takes note of the version of the lease that was found.
  mutating func note(version: UInt64) {
    if version != self.version { unchanged = .zero }
    self.version = version
  }

  /// Whether the lease was looked at before.
  var hasBegun: Bool { version != nil }

  /// Whether the lease did not change for so long that nobody can hold it.
  var isOver: Bool { unchanged >= duration }

  /// Whether the lease did not even change while it could be taken over: the store does not do what it should.
  var isHopeless: Bool { unchanged >= duration * 2 }

  /// How long to wait before looking again, which counts as waited: each time twice as long, up to a quarter of a second.
  mutating func nextPause() -> Duration {
    defer { pause = min(pause * 2, Self.longestPause) }
    unchanged += pause
    return pause
  }
}
