internal import Glibc

/// Tells the time of day. It is injected everywhere, so that tests of expiry do not have to wait.
public protocol WallClock: Sendable {
  /// The current time.
  var now: Timestamp { get }
}

/// The operating system's time of day.
public struct SystemWallClock: WallClock {
  /// The clock.
  public init() {}

  /// The current time; one call into the kernel's virtual library, about 20 nanoseconds.
  public var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
