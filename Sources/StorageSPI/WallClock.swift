/// Tells the time of day. It is passed in everywhere, so that expiry is tested without waiting for it.
public protocol WallClock: Sendable {
  /// The current time.
  var now: Timestamp { get }
}
