internal import EngineConformance

/// `backends test`.
struct TestBackend: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Run the conformance suite over a storage engine",
    discussion: """
      It works on scratch stores only, and never touches a real one: paths and names of stores that are configured are \
      replaced, all other options count. The status is 1 where a check fails.

      A library is tested in a process of its own. Where it ends that process, or a check hangs, the check under way \
      has failed, and those after it are not made.

      Examples:
        cachectl backends test lmdb
        cachectl backends test ./libcachectl-folder.so --seed 7
        gdb --args cachectl backends test ./libcachectl-folder.so --in-process
      """)

  @Argument(help: "The name of the engine, or the path of its library", completion: .backends)
  var name: String

  @Option(help: "The seed of the random checks")
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("Give up a check of a library after DURATION (default: 2m)", valueName: "duration"))
  var timeout: DurationText?

  @Flag(help: "Test a library in this process, for a debugger")
  var inProcess = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let timeout, timeout.milliseconds == 0 { throw ValidationError("--timeout is longer than 0s") }
  }

  private var flags: ConfigurationFlags { global.configurationFlags(of: "backends test", backend: name) }

  /// The loader without a crash notice: a crash is one of the results a test may have.
  private var loader: ConfigurationLoader { .ofProcess(EngineLibraries.ofProcess()) }

  func run() async throws {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let library = inProcess ? nil : try loader.library(flags, in: .ofProcess())
    let checks = try await test(library, in: scratch)
    if Task.isCancelled { throw CacheError.cancelled }
    let view = ListView(checks, of: library?.name ?? EngineName.name(of: name))
    if library != nil || global.output != .ndjson { try global.show(view) }
    if checks.contains(where: { $0.result == .failed }) { throw ExitCode.failure }
  }

  /// - Parameter library: the library to test in another process; `nil` to test in this one.
  private func test(_ library: EngineLibrary?, in scratch: ScratchFolder) async throws -> [CheckResult] {
    let progress = ProgressDisplay("Testing \(EngineName.name(of: name))", isVisible: global.showsProgress)
    defer { progress.finish() }
    guard let library else { return try await testHere(in: scratch, progress) }
    let test = IsolatedTest(library: library, seed: seed, limit: timeout?.duration ?? .seconds(120), global: global)
    if let checks = try test.run(in: scratch, progress: progress) { return checks }
    // What keeps the other process from starting is no crash, and stops this process too.
    _ = try subject(in: scratch)
    throw CacheError(.failed, "the test of \(library.path) could not begin")
  }

  /// The engine with its configured options, over stores below `scratch` and stores with names of their own.
  private func subject(in scratch: ScratchFolder) throws -> ConformanceSubject {
    let container = try AppDIContainer.ofProcess(flags, loader: loader)
    let backend = container.configuration.backend
    return try ConformanceSubject(
      plugin: container.catalogue.plugin(named: backend), values: container.configuration.options(of: backend),
      scratchFolder: scratch.path)
  }

  /// Makes the checks in this process. NDJSON is printed line by line: another process may be waiting for each line.
  private func testHere(in scratch: ScratchFolder, _ progress: ProgressDisplay) async throws -> [CheckResult] {
    let subject = try subject(in: scratch)
    var checks = IsolatedChecks()
    var failure: CacheError?
    progress.update(done: 0, total: IsolatedChecks.total, item: checks.underWay)
    _ = await ConformanceSuite.run(subject, seed: seed) { outcome in
      let result = CheckResult(outcome)
      if global.output == .ndjson, failure == nil {
        do throws(CacheError) { try Console.output.write(result.line) } catch { failure = error }
      }
      checks.results.append(result)
      progress.update(done: checks.results.count, total: IsolatedChecks.total, item: checks.underWay)
    }
    if let failure { throw failure }
    return checks.results
  }
}

/// The result of one check.
struct CheckResult {
  enum Kind: String, CaseIterable {
    case passed, failed, skipped
  }

  /// The name of the check.
  let name: String
  let result: Kind
  /// Why it failed or was skipped; empty if there is nothing to say.
  var message = ""

  static let columns: [Column<CheckResult>] = [
    Column("name") { .string($0.name) },
    Column(
      "result", .init("Result"),
      cell: { .init($0.result.rawValue, $0.result == .passed ? .green : $0.result == .failed ? .red : .dim) }
    ) { .string($0.result.rawValue) },
    Column(table: .init("Check")) { .init($0.name) },
    Column("message", .init("Message")) { .string($0.message) },
  ]

  /// The result as a line of NDJSON, with its line end.
  var line: String { JSONText.text(.object(Self.columns.members(of: self))) + "\n" }
}

extension CheckResult {
  init(_ outcome: ConformanceOutcome) {
    self.init(name: outcome.check.name, result: Kind(rawValue: outcome.name) ?? .failed, message: outcome.message)
  }

  /// The result that `line` reports; `nil` if it reports none.
  fileprivate init?(line: [UInt8]) {
    guard let document = try? JSONDocument(parsing: line), case .object(let members) = document.root.value
    else { return nil }
    func text(_ key: String) -> String? {
      guard case .text(let text)? = members.first(where: { $0.key == key })?.node.value else { return nil }
      return text
    }
    guard let name = text("name"), let result = text("result").flatMap(Kind.init), let message = text("message")
    else { return nil }
    self.init(name: name, result: result, message: message)
  }
}

extension ListView<CheckResult> {
  /// The results of the checks of `backend`. People see failed checks before all others.
  init(_ checks: [CheckResult], of backend: String) {
    let count = { @Sendable (kind: CheckResult.Kind) in checks.count { $0.result == kind } }
    let counts = CheckResult.Kind.allCases.map { "\(NumberText.text(count($0))) \($0.rawValue)" }
    let ordered = checks.filter { $0.result == .failed } + checks.filter { $0.result != .failed }
    self.init(
      checks, CheckResult.columns,
      status: StatusLine(["\(backend): \(counts.joined(separator: ", "))"], style: count(.failed) > 0 ? .red : .green)
    ) { records in
      [
        "backend": .string(backend), "passed": .integer(count(.passed)), "failed": .integer(count(.failed)),
        "skipped": .integer(count(.skipped)), "checks": .array(records),
      ]
    } text: {
      Table(ordered, CheckResult.columns).text(on: $0, hasHeader: $1, layout: .wrapped)
    }
  }
}

/// The checks of an engine that are made one after the other, in another process if the engine may crash it.
struct IsolatedChecks {
  private let names = ConformanceSuite.checks.map(\.name)
  /// The results of the checks made so far.
  var results: [CheckResult] = []

  /// The number of checks in all.
  static var total: Int { ConformanceSuite.checks.count }

  /// The name of the current check; `nil` if all have been made.
  var underWay: String? { results.count < names.count ? names[results.count] : nil }

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
      case .killed(let signal): "the engine ended the process: \(SignalName.text(signal))"
      case .gaveUp(let limit): "the engine did not return within \(DurationText(limit))"
      }
    let failed = CheckResult(name: underWay ?? "end-of-process", result: .failed, message: message)
    let skipped = names.dropFirst(results.count + 1).map {
      CheckResult(name: $0, result: .skipped, message: "not made: the process had ended")
    }
    return results + [failed] + skipped
  }
}

/// The names of signals.
enum SignalName {
  private static let names: [Int32: String] = [
    SIGABRT: "SIGABRT", SIGALRM: "SIGALRM", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL", SIGKILL: "SIGKILL",
    SIGPIPE: "SIGPIPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS", SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP",
    SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
  ]

  /// The name of the signal `number`, such as "SIGSEGV".
  static func text(_ number: Int32) -> String { names[number] ?? "signal \(number)" }
}
