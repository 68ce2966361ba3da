internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `backends`.
struct BackendsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backends", abstract: "Show the storage engines, or test one",
    discussion: """
      Engines are built in, or shared libraries called libcachectl-NAME.so. A library is found by NAME in the folders \
      of the setting plugins.searchPath (CACHECTL_PLUGIN_PATH, separated by colons), or by its path, and is loaded only \
      when it is named. Other users must not be able to change it.

      Examples:
        cachectl backends
        cachectl backends show ./libcachectl-folder.so
        cachectl backends test folder
      """,
    subcommands: [ListBackends.self, ShowBackend.self, TestBackend.self], defaultSubcommand: ListBackends.self)
}

/// `backends list`.
struct ListBackends: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the storage engines",
    discussion: """
      Libraries in the search path are listed without loading them, except the one that is configured: their versions \
      and capabilities are not known then.
      """)

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try global.show(try AppDIContainer.ofProcess(global.configurationFlags).makeBackendsPresenter().list())
  }
}

/// `backends show`.
struct ShowBackend: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show what a storage engine can do and its options",
    discussion: """
      Examples:
        cachectl backends show sqlite
        cachectl backends show ./libcachectl-folder.so --output json
      """)

  @Argument(help: "The name of the engine, or the path of its library", completion: .backends)
  var name: String

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let container = try AppDIContainer.ofProcess(global.configurationFlags(of: "backends show", backend: name))
    try global.show(try container.makeBackendsPresenter().backend(container.configuration.backend))
  }
}

extension GlobalOptions {
  /// The flags for `command`, which is about the engine that its argument names, whatever the configuration says.
  func configurationFlags(of command: String, backend name: String) -> ConfigurationFlags {
    var flags = configurationFlags
    (flags.backend, flags.backendFlag) = (name, command)
    return flags
  }
}

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
    let library = try loader.library(flags, in: .ofProcess())
    let isIsolated = library != nil && !inProcess
    let view = try await test(isIsolated ? library : nil, in: scratch)
    if Task.isCancelled { throw CacheError.cancelled }
    if isIsolated || global.output != .ndjson { try global.show(view) }
    if view.hasFailures { throw ExitCode.failure }
  }

  /// - Parameter library: the library to test in another process; `nil` to test in this one.
  private func test(_ library: EngineLibrary?, in scratch: ScratchFolder) async throws -> ChecksView {
    let progress = ProgressDisplay("Testing \(EngineName.name(of: name))", isVisible: global.showsProgress)
    defer { progress.finish() }
    guard let library else { return try await testHere(in: scratch, progress) }
    let test = IsolatedTest(library: library, seed: seed, limit: timeout?.duration ?? .seconds(120), global: global)
    if let view = try test.run(in: scratch, progress: progress) { return view }
    // What keeps the other process from starting is no crash, and stops this process too.
    let container = try AppDIContainer.ofProcess(flags, loader: loader)
    try container.makeBackendsPresenter().requireTestable(container.configuration.backend)
    throw CacheError(.failed, "the test of \(library.path) could not begin")
  }

  /// Makes the checks in this process. NDJSON is printed line by line: another process may be waiting for each line.
  private func testHere(in scratch: ScratchFolder, _ progress: ProgressDisplay) async throws -> ChecksView {
    let container = try AppDIContainer.ofProcess(flags, loader: loader)
    let presenter = container.makeBackendsPresenter()
    var (checks, failure) = (IsolatedChecks(), CacheError?.none)
    progress.update(done: 0, total: IsolatedChecks.total, item: checks.underWay)
    let view = try await presenter.test(container.configuration.backend, scratchFolder: scratch.path, seed: seed) {
      row in
      if global.output == .ndjson, failure == nil { failure = Self.failure(toWrite: row) }
      checks.add(row)
      progress.update(done: checks.done, total: IsolatedChecks.total, item: checks.underWay)
    }
    if let failure { throw failure }
    return view
  }

  private static func failure(toWrite row: ChecksView.CheckRow) -> CacheError? {
    do throws(CacheError) { try Console.output.write(row.line) } catch { return error }
    return nil
  }
}
