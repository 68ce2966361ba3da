internal import ArgumentParser
internal import Glibc
internal import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of the command, which then closes its stores in order. A
/// second signal ends the process at once; stores survive that as they survive a crash.
///
/// The command begins on the main thread, and some thread has to wait for signals meanwhile. To start one is a
/// twentieth of a warm fetch, which does not wait for anything: until `watch` is called a handler only notes the first
/// signal. It takes effect when the command waits for something, and the main thread has nothing else to do, or ends.
final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var command: RunningTask?
    var isWatched = false
  }

  private static let ofProcess = Interruption()
  private let state = Mutex(State())

  /// Runs `command` and exits with its status, or with 128 and the number of the signal that has interrupted it.
  ///
  /// The command begins on this thread and stays on it until something makes it wait: a thread of the pool would have to
  /// be started first.
  static func run(_ command: @escaping @Sendable () async -> ExitCode) -> Never {
    SignalNotes.begin()
    let interruption = ofProcess
    Task.immediateDetached {
      withUnsafeCurrentTask { interruption.cancel($0.map { RunningTask(task: $0) }) }
      let status = await command()
      exit(interruption.status ?? status.rawValue)
    }
    if interruption.beginWatching() { interruption.watch() }
    while true { pause() }
  }

  /// Has a thread of its own wait for signals from now on, because the command may take long without waiting. Without
  /// one a signal ends the process.
  static func watch() {
    guard ofProcess.beginWatching() else { return }
    SignalNotes.block()
    var thread = pthread_t()
    let context = Unmanaged.passRetained(ofProcess)
    let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
      guard let context else { return nil }
      Unmanaged<Interruption>.fromOpaque(context).takeRetainedValue().watch()
    }
    guard pthread_create(&thread, nil, start, context.toOpaque()) == 0 else {
      context.release()
      return SignalNotes.restoreDefaults()
    }
    pthread_detach(thread)
  }

  /// Whether nobody watches yet; the caller then has to.
  private func beginWatching() -> Bool {
    state.withLock { state in
      defer { state.isWatched = true }
      return !state.isWatched
    }
  }

  /// Waits for signals on this thread, for as long as the process runs.
  private func watch() -> Never {
    SignalNotes.forward(to: pthread_self())
    while true { interrupt(SignalNotes.wait()) }
  }

  /// The status of a process that was interrupted; `nil` where it was not.
  private var status: Int32? { (state.withLock { $0.signal } ?? SignalNotes.first).map { 128 + $0 } }

  /// The task to cancel at the first signal, or at once where it has come already.
  private func cancel(_ command: RunningTask?) {
    let isInterrupted = state.withLock { state in
      state.command = command
      return state.signal != nil
    }
    if isInterrupted { command?.task.cancel() }
  }

  private func interrupt(_ signal: Int32) {
    let (isSecond, command) = state.withLock { state in
      defer { state.signal = state.signal ?? signal }
      return (state.signal != nil, state.command)
    }
    if isSecond { _exit(128 + signal) }
    command?.task.cancel()
  }
}

/// The task of the command, to be cancelled from another thread.
///
/// `@unchecked Sendable`: cancelling is one of the operations that the documentation of `UnsafeCurrentTask` allows from
/// anywhere, and the task does not end before the process: it ends by calling `exit`.
private struct RunningTask: @unchecked Sendable {
  let task: UnsafeCurrentTask
}
