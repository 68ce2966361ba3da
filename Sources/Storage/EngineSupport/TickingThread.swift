internal import Platform

/// A thread that ticks at an interval while it has work, and otherwise waits without waking up.
///
/// It starts with the first `wake()` and ends after `stop()`.
///
/// `@unchecked Sendable`: the lock of `monitor` guards the state.
final class TickingThread: @unchecked Sendable {
  private let interval: Duration
  private let tick: @Sendable () -> Bool
  private let monitor = Monitor()
  private var hasThread = false
  /// Whether the thread waits without a time limit.
  private var isParked = false
  private var isWanted = false
  private var isStopped = false

  /// - Parameter tick: the work to do; returns whether to do it again after the interval.
  init(interval: Duration, tick: @escaping @Sendable () -> Bool) {
    self.interval = interval
    self.tick = tick
  }

  /// Schedules a tick one interval from now. If one is scheduled already, the call costs only a lock.
  ///
  /// - Returns: `false` if no thread could be started.
  func wake() -> Bool {
    monitor.withLock {
      if !hasThread { hasThread = DetachedThread.start { self.run() } }
      isWanted = hasThread
      if isParked { monitor.signal() }
      return hasThread
    }
  }

  /// Ends the thread, after the tick that is running.
  func stop() {
    monitor.withLock {
      isStopped = true
      monitor.signal()
    }
  }

  private func run() {
    while waitUntilDue() {
      guard tick() else { continue }
      monitor.withLock { isWanted = true }
    }
  }

  /// Waits until there is work, and then for the interval.
  ///
  /// - Returns: `false` after `stop()`.
  private func waitUntilDue() -> Bool {
    monitor.withLock {
      isParked = true
      while !isWanted, !isStopped { monitor.wait() }
      isParked = false
      let end = Monitor.deadline(after: interval)
      while !isStopped, monitor.wait(until: end) {}
      isWanted = false  // Before the work, so that a wake-up during the work counts.
      return !isStopped
    }
  }
}
