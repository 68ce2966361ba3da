/// Waits and measures time; it is injected, so that no test waits.
protocol PlistTimer: Sendable {
  /// The time since a fixed moment, unaffected by changes of the clock.
  var elapsed: Duration { get }
  /// Blocks the thread for `duration`.
  func pause(for duration: Duration)
}

/// Retries until a time-out, first after a millisecond, then at growing intervals.
struct PlistWait: Sendable {
  /// The longest pause between two attempts. It is short, because busy writers release the lock only for moments.
  private static let longestPause = Duration.milliseconds(5)

  let timeout: Duration
  let timer: any PlistTimer

  /// The result of the first successful attempt; `nil` if none succeeds in time. It always makes at least one attempt.
  func poll<Output, Failure: Error>(_ attempt: () throws(Failure) -> Output?) throws(Failure) -> Output? {
    let start = timer.elapsed
    var pause = Duration.milliseconds(1)
    while true {
      if let output = try attempt() { return output }
      let left = timeout - (timer.elapsed - start)
      guard left > .zero else { return nil }
      timer.pause(for: min(pause, left))
      pause = min(pause * 2, Self.longestPause)
    }
  }
}
