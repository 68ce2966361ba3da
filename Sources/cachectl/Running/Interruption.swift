internal import ArgumentParser
internal import Glibc
internal import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of the command, which then closes its stores in order. A
/// second signal ends the process at once; stores survive that as they survive a crash.
final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var command: RunningTask?
  }

  private let state = Mutex(State())

  /// Runs `command` and exits with its status, or with 128 and the number of the signal that has interrupted it.
  ///
  /// The command begins on this thread and stays on it until something makes it wait: a thread of the pool would have to
  /// be started first. Signals are blocked before any thread is started, because threads inherit that.
  static func run(_ command: @escaping @Sendable () async -> ExitCode) -> Never {
    let interruption = Interruption()
    interruption.startWatching()
    Task.immediateDetached {
      withUnsafeCurrentTask { interruption.cancel($0.map { RunningTask(task: $0) }) }
      let status = await command()
      exit(interruption.status ?? status.rawValue)
    }
    while true { pause() }
  }

  /// The status of a process that was interrupted; `nil` where it was not.
  private var status: Int32? { state.withLock { $0.signal.map { 128 + $0 } } }

  /// The task to cancel at the first signal, or at once where it has come already.
  private func cancel(_ command: RunningTask?) {
    let isInterrupted = state.withLock { state in
      state.command = command
      return state.signal != nil
    }
    if isInterrupted { command?.task.cancel() }
  }

  private func interrupt(_ signal: Int32) {
    if status != nil { _exit(128 + signal) }
    let command = state.withLock { state in
      state.signal = signal
      return state.command
    }
    command?.task.cancel()
  }
}

/// The task of the command, to be cancelled from another thread.
///
/// `@unchecked Sendable`: cancelling is one of the operations that the documentation of `UnsafeCurrentTask` allows from
/// anywhere, and the task does not end before the process: it ends by calling `exit`.
struct RunningTask: @unchecked Sendable {
  let task: UnsafeCurrentTask
}

extension Interruption {
  /// Watches for signals from now on, on a thread of its own. Without one a signal ends the process.
  private func startWatching() {
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, { Interruption.watch($0) }, context.toOpaque()) == 0 else {
      context.release()
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      return
    }
    pthread_detach(thread)
  }

  private static func watch(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let interruption = Unmanaged<Interruption>.fromOpaque(context).takeRetainedValue()
    var signals = signals
    var number: Int32 = 0
    while true {
      if sigwait(&signals, &number) == 0 { interruption.interrupt(number) }
    }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    if !isIgnored(SIGHUP) { sigaddset(&signals, SIGHUP) }
    return signals
  }

  /// Whether whoever started the process wants it to go on at that signal, as nohup(1) does.
  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(signal, nil, &action) == 0, let handler = action.__sigaction_handler.sa_handler else {
      return false
    }
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
