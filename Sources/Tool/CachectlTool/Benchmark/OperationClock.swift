internal import StorageSPI
internal import Synchronization

/// A clock that a millisecond passes on with each operation, so that the order of uses does not depend on the speed of
/// the engine.
final class OperationClock: WallClock {
  private let milliseconds: Atomic<Int64>

  init(_ start: Timestamp) { milliseconds = Atomic(start.milliseconds) }

  var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }

  func tick() { milliseconds.add(1, ordering: .relaxed) }
}
