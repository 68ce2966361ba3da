/// What the clock says about a stored entry: how long ago it was stored, and for how much longer it is fresh.
///
/// Every decision that depends on the age of an entry asks this type. All points in time are durations since
/// 1970-01-01T00:00:00Z.
public struct EntryAge: Sendable, Hashable {
  /// How far ahead of the clock an entry may have been stored and still count as stored now: the clocks of machines that
  /// share a store differ by less.
  public static let tolerance = Duration.seconds(60)

  /// How long ago the entry was stored, never negative.
  public let sinceStored: Duration
  /// For how much longer the entry is fresh; zero or negative where it is stale.
  public let remainingFreshness: Duration

  /// The age at `now` of an entry stored at `storedAt`; `nil` where that is more than `tolerance` ahead of the clock.
  /// The clock was set back then, and the age is unknown: the entry is stale.
  public init?(storedAt: Duration, freshUntil: Duration, now: Duration) {
    guard storedAt <= now + Self.tolerance else { return nil }
    sinceStored = max(now - storedAt, .zero)
    // An entry stored a little ahead stays fresh for as long as it was meant to, not longer.
    remainingFreshness = freshUntil - max(now, storedAt)
  }
}
