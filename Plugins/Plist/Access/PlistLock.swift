internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The lock on a store, which excludes other handles in this process and in others.
///
/// It is `flock` on a file of its own. The kernel releases it when the process ends. Handles of one process exclude
/// each other, because each opens the file separately. The file is never removed.
///
/// To take it, a handle first takes its turn: `flock` on the folder, which it keeps until it has the lock. So a handle
/// that has just released the lock cannot take it again while another one waits for it. The turn protects nothing: a
/// handle that cannot lock the folder, or has waited for its turn for half of the time-out, goes without, as earlier
/// versions do, which is unfair but safe. So a process that is suspended while it waits stops no other.
struct PlistLock: Sendable {
  let folder: PlistFolder
  let wait: PlistWait
  private let patience: LockPatience

  init(folder: PlistFolder, wait: PlistWait) {
    self.folder = folder
    self.wait = wait
    patience = LockPatience(wait.timeout) { wait.timer.elapsed }
  }

  /// Runs `body` while holding the lock.
  ///
  /// - Throws: `CacheError` with the code `busy` if it cannot be had within the time-out.
  func hold<Output>(
    exclusively: Bool, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let file = try acquire(exclusively: exclusively)
    defer { folder.fileSystem.unlock(file) }
    return try body()
  }

  /// Takes the lock, which lasts until the file is unlocked or closed.
  func acquire(exclusively: Bool) throws(CacheError) -> OpenFile {
    try patience.wait { timeout throws(CacheError) in
      try acquire(exclusively: exclusively, PlistWait(timeout: timeout, timer: wait.timer))
    }
  }

  private func acquire(exclusively: Bool, _ wait: PlistWait) throws(CacheError) -> OpenFile {
    let (path, fileSystem) = (folder.lockPath, folder.fileSystem)
    let file = try open()
    let turn = try? fileSystem.open(folder.path, flags: O_RDONLY | O_DIRECTORY)
    defer { if let turn { fileSystem.unlock(turn) } }
    let start = wait.timer.elapsed
    var hasTurn = false
    let isHeld: Bool? = try wait.poll { () throws(CacheError) in
      if !hasTurn { hasTurn = turn.map(isTaken) ?? true || wait.timer.elapsed - start > wait.timeout / 2 }
      guard hasTurn else { return nil }
      return try folder.call("lock", path) { () throws(SystemError) in
        try fileSystem.lock(file, exclusively: exclusively) ? true : nil
      }
    }
    guard isHeld != nil else { throw .busy("lock", folder.path, after: self.wait.timeout) }
    return file
  }

  /// Takes the turn if no other handle has it, or if the file system has no locks on folders.
  private func isTaken(_ turn: OpenFile) -> Bool {
    (try? folder.fileSystem.lock(turn, exclusively: true)) ?? true
  }

  private func open() throws(CacheError) -> OpenFile {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    let (path, flags) = (folder.lockPath, O_RDONLY | O_CREAT | O_NONBLOCK)
    do {
      return try folder.fileSystem.open(path, flags: flags)
    } catch  where error.isAbsence {
      // The folder was removed after the store was opened: start again with an empty store.
      try folder.makeStore()
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

/// Retries until a time-out.
struct PlistWait: Sendable {
  /// The pause between two attempts. It is short, because the lock is free while the handle whose turn it is pauses,
  /// and always the same, so that no handle asks more often than one that has waited longer.
  private static let pause = Duration.microseconds(500)

  let timeout: Duration
  let timer: any PlistTimer

  /// The result of the first successful attempt; `nil` if none succeeds in time. It always makes at least one attempt.
  func poll<Output, Failure: Error>(_ attempt: () throws(Failure) -> Output?) throws(Failure) -> Output? {
    let start = timer.elapsed
    while true {
      if let output = try attempt() { return output }
      let left = timeout - (timer.elapsed - start)
      guard left > .zero else { return nil }
      timer.pause(for: min(Self.pause, left))
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
