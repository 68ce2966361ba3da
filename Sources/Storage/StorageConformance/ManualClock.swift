public import StorageSPI
internal import Synchronization

/// A clock that moves only when told to, so that tests of expiry need not wait.
public final class ManualClock: WallClock {
  private let milliseconds: Atomic<Int64>

  /// A clock that shows `time`.
  public init(_ time: Timestamp) { milliseconds = Atomic(time.milliseconds) }

  /// The time set last.
  public var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .sequentiallyConsistent)) }

  /// Moves the clock to `time`, forwards or backwards.
  public func set(_ time: Timestamp) { milliseconds.store(time.milliseconds, ordering: .sequentiallyConsistent) }

  /// Moves the clock by `duration`, as `Timestamp.advanced(by:)` does.
  public func advance(by duration: Duration) { set(now.advanced(by: duration)) }
}
