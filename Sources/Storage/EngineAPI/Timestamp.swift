/// A point in time: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted (POSIX time).
///
/// The range ends at 9999-12-31T23:59:59.999Z, the last instant that RFC 3339 can write. Sums stop there instead of
/// overflowing, so "forever" plus an hour is still "forever".
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z, from 0 to 253,402,300,799,999.
  public let milliseconds: Int64

  /// The time `milliseconds` after 1970-01-01T00:00:00Z, clamped to the range.
  @inlinable
  public init(milliseconds: Int64) {
    // The number of `RFC3339.latest`: each read makes three of these, and takes no call for it.
    self.milliseconds = min(max(milliseconds, 0), 253_402_300_799_999)
  }

  /// The last instant of the range, used for "never".
  public static let distantFuture = Timestamp(milliseconds: .max)

  /// The time `duration` later, or earlier if it is negative, clamped to the range. Fractions of a millisecond are
  /// dropped.
  public func advanced(by duration: Duration) -> Timestamp {
    // Such a duration exceeds the range from any start; anything smaller cannot overflow below.
    if duration >= .seconds(1 << 40) { return .distantFuture }
    if duration <= .seconds(-1 << 40) { return Timestamp(milliseconds: 0) }
    return Timestamp(milliseconds: milliseconds + duration.wholeMilliseconds)
  }

  /// How far a time can be ahead of the clock and still count as now. Machines that share a store have clocks that
  /// differ by less than this.
  public static let clockTolerance = Duration.seconds(60)

  /// Whether this time is so far ahead of `now` that the two clocks disagree: one of them was set.
  public func isAhead(of now: Timestamp) -> Bool { self > now && self > now.advanced(by: Self.clockTolerance) }

  /// How long after `earlier` this time is; negative if it is before.
  public func duration(since earlier: Timestamp) -> Duration {
    .milliseconds(milliseconds - earlier.milliseconds)
  }

  /// The time in RFC 3339 format, in UTC with milliseconds: "2026-01-31T08:09:10.123Z".
  public var text: String { RFC3339.text(milliseconds) }

  /// Parses `text`; `nil` unless it has exactly the form that the property `text` produces.
  public init?(text: String) {
    guard let milliseconds = RFC3339.time(text) else { return nil }
    self.init(milliseconds: milliseconds)
  }

  /// Orders by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

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
