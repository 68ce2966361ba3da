/// What the clock says about a stored entry: how long ago it was stored, and how long it stays fresh.
///
/// Every decision that depends on an entry's age uses this type. Points in time are durations since
/// 1970-01-01T00:00:00Z.
public struct EntryAge: Sendable, Hashable {
  /// How far ahead of the clock an entry's time may be and still count as now. The clocks of machines that share a
  /// store differ by less.
  public static let tolerance = Duration.seconds(60)

  /// How long ago the entry was stored, never negative.
  public let sinceStored: Duration
  /// How long the entry stays fresh; zero or negative if it is stale.
  public let remainingFreshness: Duration

  /// Reads the age at `now` of an entry stored at `storedAt`. `nil` if that is more than `tolerance` ahead of the
  /// clock: the clock was set back, the age is unknown, and the entry is stale.
  public init?(storedAt: Duration, freshUntil: Duration, now: Duration) {
    guard storedAt <= now + Self.tolerance else { return nil }
    sinceStored = max(now - storedAt, .zero)
    // An entry stored slightly ahead of the clock stays fresh for its intended lifetime, not longer.
    remainingFreshness = freshUntil - max(now, storedAt)
  }
}
