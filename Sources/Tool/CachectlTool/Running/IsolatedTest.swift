internal import CacheBase
internal import CachePresentation
internal import EngineConformance
internal import FetchVocabulary

/// A test of an engine in a separate process: an engine that crashes or hangs fails the current check, and the test
/// continues.
struct IsolatedTest {
  private let names = ConformanceSuite.checks.map(\.name)
  /// The results of the checks made so far.
  private(set) var results: [CheckResult] = []

  /// The name of the current check; `nil` if all have been made.
  var underWay: String? { results.count < names.count ? names[results.count] : nil }

  /// Makes all checks of the engine of `library` in the process of `arguments`, with scratch stores in `scratch`.
  ///
  /// - Parameter limit: how long a check can take.
  /// - Returns: the checks; `nil` if the other process refused to start, with a status that says why.
  /// - Throws: `CacheError`: `cancelled`, or the other process cannot be started.
  mutating func run(
    _ arguments: [String], limit: Duration, in scratch: ScratchFolder, _ global: GlobalOptions,
    progress: ProgressDisplay
  ) throws(CacheError) -> [CheckResult]? {
    let errors = scratch.path + "/errors"
    let process = try ToolProcess(arguments, errors: errors, temporaryFolder: scratch.path)
    let end = try watch(process, limit: limit, progress)
    if case .exited(let status) = end, results.isEmpty, Self.refusals.contains(status) { return nil }
    // A well-behaved engine writes nothing.
    if let text = try? ConfigurationFiles.contents(of: errors), !text.isEmpty {
      global.remark(StatusLine(["The engine wrote: \(String(decoding: text.prefix(4_096), as: UTF8.self))"]))
    }
    return results(after: end)
  }

  /// The exit statuses of a command that could not start: see `ExitCode`.
  private static let refusals: Set<Int32> = [64, 69, 70, 73, 74, 77, 78]

  /// Reads the other process's messages until it ends.
  private mutating func watch(
    _ process: consuming ToolProcess, limit: Duration, _ progress: ProgressDisplay
  ) throws(CacheError) -> ToolProcess.End {
    defer { progress.finish() }
    var lastCheck = ContinuousClock.now
    while true {
      progress.update(done: results.count, total: names.count, item: underWay)
      switch process.next(within: limit - (ContinuousClock.now - lastCheck)) {
      case .end:
        let end = process.wait()
        if Task.isCancelled { throw .cancelled }
        return end
      case .line(let line): if add(line: line) { lastCheck = .now }
      case .nothing where Task.isCancelled:
        process.stop()
        throw .cancelled
      case .nothing:
        process.send(SIGKILL)
        _ = process.wait()
        return .gaveUp(after: limit)
      }
    }
  }

  /// Adds the next check if `line` is a report of one, in the form of `CheckResult.line`. Ignores anything else, such as
  /// output of an engine.
  ///
  /// - Returns: whether it was a check.
  mutating func add(line: [UInt8]) -> Bool {
    guard let result = CheckResult(line: line), result.name == underWay else { return false }
    results.append(result)
    return true
  }

  /// All results, once the other process has ended. If the engine ended it, the current check failed, and those after it
  /// were not made.
  func results(after end: ToolProcess.End) -> [CheckResult] {
    let status: Int32 = results.contains { $0.result == .failed } ? 1 : 0
    if underWay == nil, end == .exited(status: status) { return results }
    let message =
      switch end {
      case .exited(let status): "the engine ended the process with status \(status)"
      case .killed(let signal): "the engine ended the process: \(String(cString: strsignal(signal)))"
      case .gaveUp(let limit): "the engine did not return within \(DurationText(limit))"
      }
    let failed = CheckResult(name: underWay ?? "end-of-process", result: .failed, message: message)
    let skipped = names.dropFirst(results.count + 1).map {
      CheckResult(name: $0, result: .skipped, message: "not made: the process had ended")
    }
    return results + [failed] + skipped
  }
}
