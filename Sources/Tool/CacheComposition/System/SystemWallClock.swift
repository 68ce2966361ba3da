internal import Glibc
public import StorageSPI

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
