/// Tells the time of day. It is injected everywhere, so that tests of expiry do not have to wait.
public protocol WallClock: Sendable {
  /// The current time.
  var now: Timestamp { get }
}
