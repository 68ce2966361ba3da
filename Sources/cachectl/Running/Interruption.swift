internal import ArgumentParser
internal import Glibc
internal import Synchronization

/// Turns SIGINT and SIGTERM into the cancellation of the command, which then closes its stores in order. A second
/// signal ends the process at once; stores survive that as they survive a crash.
final class Interruption: Sendable {
  private let command: Task<ExitCode, Never>
  private let signal = Atomic<Int32>(0)

  /// Watches for signals from now on, on a thread of its own.
  init(of command: Task<ExitCode, Never>) {
    self.command = command
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    if pthread_create(&thread, nil, { Interruption.watch($0) }, context) == 0 { pthread_detach(thread) }
  }

  /// The status of a process that was interrupted, 128 and the number of the signal; `nil` where it was not.
  var status: Int32? {
    let number = signal.load(ordering: .acquiring)
    return number == 0 ? nil : 128 + number
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    return signals
  }

  private static func watch(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let interruption = Unmanaged<Interruption>.fromOpaque(context).takeRetainedValue()
    var signals = Self.signals
    var number: Int32 = 0
    while sigwait(&signals, &number) == 0 {
      if interruption.status != nil { _exit(128 + number) }
      interruption.signal.store(number, ordering: .releasing)
      interruption.command.cancel()
    }
    return nil
  }
}
