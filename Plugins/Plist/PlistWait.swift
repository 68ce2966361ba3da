/// Waits, and tells how long: passed in, so that no test waits.
protocol PlistTimer: Sendable {
  /// The time since some fixed moment, unaffected by a change of the time of day.
  var elapsed: Duration { get }
  /// Blocks the thread for `duration`.
  func pause(for duration: Duration)
}

/// Tries again and again until a time is over, at first after a millisecond, then less and less often.
struct PlistWait: Sendable {
  /// The longest pause between two attempts: short, because busy writers leave the lock free for moments only.
  private static let longestPause = Duration.milliseconds(5)

  let timeout: Duration
  let timer: any PlistTimer

  /// What the first successful attempt yields; `nil` where none was within the time. There is always one attempt.
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
