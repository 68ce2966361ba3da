internal import Glibc
internal import Synchronization

/// Turns SIGINT and SIGTERM into the cancellation of the command, which then closes its stores in order. A second
/// signal ends the process at once; stores survive that as they survive a crash.
enum Interruption {
  private static let signal = Atomic<Int32>(0)

  /// The status of a process that was interrupted, 128 and the number of the signal; `nil` where it was not.
  static var status: Int32? {
    let number = signal.load(ordering: .acquiring)
    return number == 0 ? nil : 128 + number
  }

  /// Keeps the signals waiting until somebody watches for them, in this thread and all that are started by it.
  static func blockSignals() {
    var signals = signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits for signals for as long as the process lives, and calls `cancel` at the first.
  static func watch(_ cancel: () -> Void) -> Never {
    var signals = signals
    var number: Int32 = 0
    while true {
      guard sigwait(&signals, &number) == 0 else { continue }
      if let status { _exit(status) }
      signal.store(number, ordering: .releasing)
      cancel()
    }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    return signals
  }
}
