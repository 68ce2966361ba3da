internal import CommandLineKit
internal import CacheBase
internal import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of the command, which then closes its stores in order. A
/// second signal ends the process at once; stores survive that as they survive a crash. A signal that was ignored when the
/// process started stays ignored.
final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var command: RunningTask?
  }

  private let state = Mutex(State())

  /// Runs `command` and exits with its status, or with 128 plus the number of the signal that interrupted it.
  ///
  /// The command starts on this thread and stays there until it first waits: starting a thread of the pool takes time.
  /// Signals are blocked before any thread starts, because threads inherit the mask.
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

  /// The exit status of an interrupted process; `nil` if it was not interrupted.
  private var status: Int32? { state.withLock { $0.signal.map { 128 + $0 } } }

  /// Sets the task to cancel at the first signal, and cancels it now if the signal has come already.
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

/// The task of the command, which another thread cancels.
///
/// `@unchecked Sendable`: the documentation of `UnsafeCurrentTask` allows cancelling from anywhere, and the task lives
/// as long as the process: it ends by calling `exit`.
struct RunningTask: @unchecked Sendable {
  let task: UnsafeCurrentTask
}

extension Interruption {
  /// Starts to watch for signals, on its own thread. If there is no thread, a signal ends the process.
  private func startWatching() {
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    if !SystemThread.startDetached({ self.watch() }) { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  private func watch() {
    var signals = Self.signals
    var number: Int32 = 0
    while true {
      if sigwait(&signals, &number) == 0 { interrupt(number) }
    }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(signal) { sigaddset(&signals, signal) }
    return signals
  }

  /// Whether the process was started to ignore `signal`, as nohup(1) and the background jobs of a script are.
  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(signal, nil, &action) == 0, let handler = action.handler else {
      return false
    }
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
