#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The system's monotonic clock.
struct SystemTimer: PlistTimer {
  private let start = SuspendingClock.now

  var elapsed: Duration { start.duration(to: .now) }

  func pause(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    // A signal may end the pause early; then the next attempt just comes sooner.
    nanosleep(&time, nil)
  }
}
