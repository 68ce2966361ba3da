internal import FetchVocabulary
internal import CachePresentation
internal import CacheBase

/// Tests an engine in a separate process: an engine that crashes or hangs fails the current check, and the test goes
/// on.
struct IsolatedTest {
  /// How long the other process may take to end after an interruption.
  private static let grace: Duration = .seconds(2)

  let library: EngineLibrary
  let seed: UInt64
  /// How long a check may take.
  let limit: Duration
  let global: GlobalOptions

  /// Makes all checks, with scratch stores in `scratch`.
  ///
  /// - Returns: the checks; `nil` if the other process refused to start, with a status that says why.
  /// - Throws: `CacheError`: `cancelled`, or the other process cannot be started.
  func run(in scratch: ScratchFolder, progress: ProgressDisplay) throws(CacheError) -> [CheckResult]? {
    let errors = scratch.path + "/errors"
    var process = try ToolProcess(arguments, errors: errors, temporaryFolder: scratch.path)
    var checks = IsolatedChecks()
    let hasHung = watch(&process, &checks, progress)
    let end = process.wait()
    progress.finish()
    if Task.isCancelled { throw .cancelled }
    if case .exited(let status) = end, checks.results.isEmpty, Self.refusals.contains(status) { return nil }
    showErrors(errors)
    return checks.results(after: hasHung ? .gaveUp(after: limit) : end)
  }

  /// The exit statuses of a command that could not start: see `ExitCode`.
  private static let refusals: Set<Int32> = [64, 69, 70, 73, 74, 77, 78]

  private var arguments: [String] {
    var arguments = ["backends", "test", library.path, "--in-process", "--output", "ndjson", "--seed", "\(seed)"]
    if let config = global.config { arguments += ["--config", config] }
    if let home = global.home { arguments += ["--home", home] }
    for setting in global.settings { arguments += ["--set", setting] }
    return arguments
  }

  /// Reads the other process's messages until it ends.
  ///
  /// - Returns: whether a check took too long and the process had to be ended.
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
    progress.update(done: checks.results.count, total: IsolatedChecks.total, item: checks.underWay)
  }

  /// Passes on what the engine, or the system, wrote to the standard error. A well-behaved engine writes nothing.
  private func showErrors(_ path: String) {
    guard let text = try? ConfigurationFiles.contents(of: path), !text.isEmpty else { return }
    global.remark(StatusLine(["The engine wrote: \(String(decoding: text.prefix(4_096), as: UTF8.self))"]))
  }
}
