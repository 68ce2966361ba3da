/// A point in time: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted (POSIX time).
///
/// The range ends at 9999-12-31T23:59:59.999Z, the last instant that RFC 3339 can write; sums stop there instead of
/// overflowing, so that "for ever" plus an hour is still "for ever".
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z, from 0 to 253,402,300,799,999.
  public let milliseconds: Int64

  /// The time `milliseconds` after 1970-01-01T00:00:00Z, moved to the nearest end of the range where it is outside.
  public init(milliseconds: Int64) {
    self.milliseconds = min(max(milliseconds, 0), 253_402_300_799_999)
  }

  /// The last instant of the range, used for "never".
  public static let distantFuture = Timestamp(milliseconds: .max)

  /// The time `duration` later (earlier, where it is negative), kept within the range. Fractions of a millisecond are
  /// dropped.
  public func advanced(by duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    // More than the whole range leads out of it from anywhere, and nothing below overflows.
    guard seconds.magnitude < 1 << 40 else { return Timestamp(milliseconds: seconds < 0 ? .min : .max) }
    return Timestamp(milliseconds: milliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
  }

  /// How far a time may lie after the clock's and still count as now: the clocks of machines that share a store differ
  /// by less.
  public static let clockTolerance = Duration.seconds(60)

  /// Whether this is so far after `now` that the clock which gave it and the one which gave `now` do not agree: one of
  /// them was set.
  public func isAhead(of now: Timestamp) -> Bool { self > now.advanced(by: Self.clockTolerance) }

  /// How long after `earlier` this is; negative where it is before.
  public func duration(since earlier: Timestamp) -> Duration {
    .milliseconds(milliseconds - earlier.milliseconds)
  }

  /// Orders by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
