internal import Platform
internal import StorageSPI

/// The lock on a store, which excludes other handles in this process and in others.
///
/// It is `flock` on a file of its own. The kernel releases it when the process ends. Handles of one process exclude
/// each other, because each opens the file separately. The file is never removed.
struct PlistLock: Sendable {
  let folder: PlistFolder
  let wait: PlistWait

  /// Runs `body` while holding the lock.
  ///
  /// - Throws: `CacheError` with the code `busy` if another handle holds it for longer than the time-out.
  func hold<Output>(
    exclusively: Bool, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let file = try acquire(exclusively)
    defer { folder.fileSystem.unlock(file) }
    return try body()
  }

  private func acquire(_ exclusively: Bool) throws(CacheError) -> OpenFile {
    let path = folder.lockPath
    let file = try open()
    let isHeld: Bool? = try wait.poll { () throws(CacheError) in
      try folder.call("lock", path) { () throws(SystemError) in
        try folder.fileSystem.lock(file, exclusively: exclusively) ? true : nil
      }
    }
    guard isHeld != nil else { throw .busy(folder.path, after: wait.timeout) }
    return file
  }

  private func open() throws(CacheError) -> OpenFile {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    let (path, flags) = (folder.lockPath, O_RDONLY | O_CREAT | O_NONBLOCK)
    do {
      return try folder.fileSystem.open(path, flags: flags)
    } catch  where error.isAbsence {
      // The folder was removed after the store was opened: start again with an empty store.
      try folder.make()
      return try folder.call("open", path) { () throws(SystemError) in
        try folder.fileSystem.open(path, flags: flags)
      }
    } catch {
      throw CacheError(error, action: "open", path: path)
    }
  }
}

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

/// The system's monotonic clock.
struct SystemTimer: PlistTimer {
  private let start = SuspendingClock.now

  var elapsed: Duration { start.duration(to: .now) }

  func pause(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    // A signal may end the pause early; then the next attempt just comes sooner.
    nanosleep(&time, nil)
  }
}
