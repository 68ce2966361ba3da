internal import EngineConformance

struct TestBackend: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Run the conformance suite on a storage engine",
    discussion: """
      The test uses only scratch stores and never touches a configured one: it replaces the paths and names of stores, and \
      keeps all other options. The exit code is 1 if a check fails.

      The engine is tested in a separate process. If it ends that process, or a check hangs, the current check has failed, \
      and the remaining ones are not made.
      """,
    examples: [
      "cachectl backends test lmdb", "cachectl backends test ./libcachectl-folder.so --seed 7",
      "gdb --args cachectl backends test ./libcachectl-folder.so --in-process",
    ])

  @Argument(help: "The name of the engine, or the path of its library", completion: .backends)
  var name: String

  @Option(help: ArgumentHelp("Use the seed N for random checks", valueName: "n"))
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("Stop a check after DURATION (default: 2m)", valueName: "duration"))
  var timeout: DurationText?

  @Flag(help: "Test in this process, for a debugger, and print a line of NDJSON for each check")
  var inProcess = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let timeout, timeout.milliseconds == 0 { throw ValidationError("--timeout is longer than 0s") }
  }

  private var flags: ConfigurationFlags { global.configurationFlags(of: "backends test", backend: name) }

  func run() async throws {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    if inProcess { return try await testHere(in: scratch) }
    var test = IsolatedTest()
    let arguments = [
      "backends", "test", name, "--in-process", "--output", "ndjson", "--seed", "\(seed)",
    ]
    let progress = ProgressDisplay("Testing \(EngineName.name(of: name))", isVisible: global.showsProgress)
    let checks = try test.run(
      arguments + global.arguments, limit: timeout?.duration ?? .seconds(120), in: scratch, global, progress: progress)
    guard let checks else {
      // A failure to start the other process is not a crash, and stops this process too.
      _ = try subject(in: scratch)
      throw CacheError(.failed, "the test of \(name) could not begin")
    }
    try global.show(ListView(checks, of: EngineName.name(of: name)))
    if checks.contains(where: { $0.result == .failed }) { throw ExitCode.failure }
  }

  /// The engine with its configured options, over stores below `scratch` and stores with their own names.
  private func subject(in scratch: ScratchFolder) throws -> ConformanceSubject {
    // Without a crash notice: a crash is one of the results a test can have.
    let container = try AppDIContainer.ofProcess(flags, loader: .ofProcess(EngineLibraries()))
    let backend = container.configuration.backend
    return try ConformanceSubject(
      plugin: container.catalogue.plugin(named: backend), values: container.configuration.options(of: backend),
      scratchFolder: scratch.path)
  }

  /// Makes the checks in this process. Each is printed when it was made: another process waits for it.
  private func testHere(in scratch: ScratchFolder) async throws {
    var failure: CacheError?
    let report = await ConformanceSuite.run(try subject(in: scratch), seed: seed) { outcome in
      guard failure == nil else { return }
      do throws(CacheError) { try Console.output.write(CheckResult(outcome).line) } catch { failure = error }
    }
    if let failure { throw failure }
    if Task.isCancelled { throw CacheError.cancelled }
    if !report.failures.isEmpty { throw ExitCode.failure }
  }
}

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
  init?(line: [UInt8]) {
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
