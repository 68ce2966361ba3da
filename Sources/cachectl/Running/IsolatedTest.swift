internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import Glibc

/// The test of an engine in a process of its own: an engine that crashes or hangs is a failure of the check under way,
/// and not the end of the test.
struct IsolatedTest {
  /// How long the other process has for its end after an interruption.
  private static let grace: Duration = .seconds(2)

  let library: EngineLibrary
  let seed: UInt64
  /// How long a check may take.
  let limit: Duration
  let global: GlobalOptions

  /// Makes all checks, with scratch stores below `scratch`.
  ///
  /// - Returns: the checks; `nil` where the other process refused to begin, with a status that says why.
  /// - Throws: `CacheError`: `cancelled`, or there can be no other process.
  func run(in scratch: ScratchFolder, progress: ProgressDisplay) throws(CacheError) -> ChecksView? {
    let errors = scratch.path + "/errors"
    var process = try ToolProcess(arguments, errors: errors, temporaryFolder: scratch.path)
    var checks = IsolatedChecks()
    let hasHung = watch(&process, &checks, progress)
    let end = process.wait()
    progress.finish()
    if Task.isCancelled { throw .cancelled }
    if case .exited(let status) = end, checks.done == 0, Self.refusals.contains(status) { return nil }
    showErrors(errors)
    return checks.view(backend: library.name, hasHung ? .gaveUp(after: limit) : end)
  }

  /// The statuses of a command that could not begin: see `ExitCode`.
  private static let refusals: Set<Int32> = [64, 69, 70, 73, 74, 77, 78]

  private var arguments: [String] {
    var arguments = ["backends", "test", library.path, "--in-process", "--output", "ndjson", "--seed", "\(seed)"]
    if let config = global.config { arguments += ["--config", config] }
    if let home = global.home { arguments += ["--home", home] }
    for setting in global.settings { arguments += ["--set", setting] }
    return arguments
  }

  /// Reads what the other process says until it ends.
  ///
  /// - Returns: whether it had to be ended, because a check took too long.
  private func watch(
    _ process: inout ToolProcess, _ checks: inout IsolatedChecks, _ progress: ProgressDisplay
  ) -> Bool {
    var (lastCheck, interruption) = (ContinuousClock.now, ContinuousClock.Instant?.none)
    show(checks, progress)
    while true {
      switch process.next(within: 50) {
      case .end: return false
      case .line(let line): if checks.add(line: line) { lastCheck = .now }
      case .nothing: break
      }
      show(checks, progress)
      if Task.isCancelled, interruption == nil {
        interruption = .now
        process.send(SIGINT)
      }
      let hangs = ContinuousClock.now - lastCheck > limit
      if hangs || interruption.map({ ContinuousClock.now - $0 > Self.grace }) ?? false {
        process.send(SIGKILL)
        return hangs
      }
    }
  }

  private func show(_ checks: IsolatedChecks, _ progress: ProgressDisplay) {
    progress.update(done: checks.done, total: IsolatedChecks.total, item: checks.underWay)
  }

  /// Passes on what the engine, or the system, had to say, which no well-behaved one has.
  private func showErrors(_ path: String) {
    guard let text = try? ConfigurationFiles.contents(of: path), !text.isEmpty else { return }
    global.remark(StatusLine(["The engine wrote: \(String(decoding: text.prefix(4_096), as: UTF8.self))"]))
  }
}
