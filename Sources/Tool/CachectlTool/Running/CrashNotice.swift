internal import CacheComposition
internal import CachePresentation
internal import Platform
internal import Synchronization

/// Names the loaded libraries if the process crashes: one of them may be the cause.
enum CrashNotice {
  private static let signals = [SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP]
  private static let libraries = Mutex<[EngineLibrary]>([])
  /// The address of the notice, made in advance because a signal handler must not allocate. It is never freed.
  private static let line = Atomic<UInt>(0)

  /// Adds `library` to what a crash from now on will name.
  static func add(_ library: EngineLibrary) {
    let libraries = libraries.withLock { libraries in
      if libraries.contains(library) { return [EngineLibrary]() }
      libraries.append(library)
      return libraries
    }
    guard let newest = libraries.last else { return }
    let names = libraries.map { "\($0.name) (\($0.path))" }.joined(separator: " and ")
    let crash = ErrorView(
      code: "defect", message: "the process crashed with backend \(names) loaded",
      hint: "run cachectl backends test \(newest.path)")
    guard let copy = strdup(Diagnostics.standard.text(.error(crash))) else { return }
    line.store(UInt(bitPattern: copy), ordering: .releasing)
    if libraries.count == 1 { install() }
  }

  private static func install() {
    for signal in signals {
      var action = sigaction()
      action.handler = { CrashNotice.report($0) }
      // The repeated signal gets the default action, which leaves the right status and a core file.
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
      sigaction(signal, &action, nil)
    }
  }

  /// Only makes calls that signal-safety(7) allows.
  private static func report(_ signal: Int32) {
    if let line = UnsafePointer<CChar>(bitPattern: line.load(ordering: .acquiring)) {
      _ = write(STDERR_FILENO, line, strlen(line))
    }
    raise(signal)
  }
}
