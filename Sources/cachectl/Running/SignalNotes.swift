internal import Glibc
internal import Synchronization

/// Notes the signals that interrupt the process, by a handler that runs wherever they arrive, and hands them to the
/// thread that waits for them as soon as there is one.
enum SignalNotes {
  /// The first signal; 0 before it.
  private static let noted = Atomic<Int32>(0)
  /// The thread that waits; 0 while there is none.
  private static let watcher = Atomic<UInt>(0)
  /// Whether the first signal was handed to that thread.
  private static let isHanded = Atomic(false)

  /// The first signal that came before anybody waited for signals; `nil` where none has.
  static var first: Int32? {
    let signal = noted.load(ordering: .acquiring)
    return signal == 0 ? nil : signal
  }

  /// Installs the handler. What it uses is made before: it must not be the one to make it.
  static func begin() {
    noted.store(0, ordering: .relaxed)
    watcher.store(0, ordering: .relaxed)
    isHanded.store(false, ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { SignalNotes.note($0) }
    action.sa_flags = SA_RESTART
    for signal in interrupting { sigaction(signal, &action, nil) }
  }

  /// From now on a signal does what it does without a handler: it ends the process.
  static func restoreDefaults() {
    for signal in interrupting { Glibc.signal(signal, SIG_DFL) }
    var signals = set
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Keeps the signals from this thread, and from those that it starts from now on.
  static func block() {
    var signals = set
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Makes this thread, which is `thread`, the one that gets the signals, the noted one first.
  static func forward(to thread: pthread_t) {
    block()
    watcher.store(UInt(thread), ordering: .sequentiallyConsistent)
    handOver()
  }

  /// Hands the first signal to the thread that waits, once: a second time would mean a second signal.
  private static func handOver() {
    let thread = watcher.load(ordering: .sequentiallyConsistent)
    let signal = noted.load(ordering: .sequentiallyConsistent)
    guard thread != 0, signal != 0, !isHanded.exchange(true, ordering: .sequentiallyConsistent) else { return }
    pthread_kill(pthread_t(thread), signal)
  }

  /// Waits for the next signal.
  static func wait() -> Int32 {
    var signals = set
    var number: Int32 = 0
    while sigwait(&signals, &number) != 0 {}
    return number
  }

  /// Only makes calls that signal-safety(7) allows. A thread that was started before another one waited for signals may
  /// still get them.
  private static func note(_ signal: Int32) {
    let thread = watcher.load(ordering: .sequentiallyConsistent)
    if thread != 0 {
      pthread_kill(pthread_t(thread), signal)
    } else if noted.exchange(signal, ordering: .sequentiallyConsistent) != 0 {
      _exit(128 + signal)
    } else {
      handOver()
    }
  }

  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in interrupting { sigaddset(&set, signal) }
    return set
  }

  private static var interrupting: [Int32] { isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP] }

  /// Whether whoever started the process wants it to go on at that signal, as nohup(1) does.
  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(signal, nil, &action) == 0, let handler = action.__sigaction_handler.sa_handler else {
      return false
    }
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
