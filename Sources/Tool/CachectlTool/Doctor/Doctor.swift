internal import CacheBase
internal import CacheConfiguration
internal import CacheCore
internal import CachePresentation
internal import EngineAPI
internal import FetchVocabulary

/// Examines the setup: the configuration, permissions, space, each store, and the clock. It changes nothing and creates
/// no store.
struct Doctor: Sendable {
  private let loader: ConfigurationLoader
  private let libraries: EngineLibraries
  private let catalogue: PluginCatalogue
  private let clock: any WallClock
  private let files: any FileInspection
  private let checks: FileChecks

  /// A doctor for what `loader` loads, with the engines of `catalogue`, others of `libraries`, and the time of `clock`.
  init(
    loader: ConfigurationLoader, libraries: EngineLibraries = EngineLibraries(), catalogue: PluginCatalogue,
    clock: any WallClock = SystemWallClock(), files: any FileInspection = SystemFileInspection()
  ) {
    self.loader = loader
    self.libraries = libraries
    self.catalogue = catalogue
    self.clock = clock
    self.files = files
    checks = FileChecks(files: files)
  }

  /// Makes every check.
  ///
  /// - Returns: the findings, and the kind of the most serious problem; `nil` if there is none.
  /// - Throws: `ConfigurationError` if a flag is wrong, which is a mistake of the command line.
  func examine(
    _ flags: ConfigurationFlags
  ) async throws(ConfigurationError) -> (view: ListView<Finding>, worst: CacheError.Code?) {
    let (loaded, problems) = loader.read(flags)
    if let mistake = problems.first(where: \.isOfCommandLine) { throw mistake }
    var findings = configuration(problems, flags)
    // If there is no home folder, that is a finding about the configuration.
    if let home = try? loader.locations.home(flags).path { findings += checks.home(home) }
    if let loaded {
      findings += await engines(loaded)
    } else {
      findings.append(
        .warning("stores", "are not looked at", hint: "put the configuration right, and ask again"))
      findings.append(time([]))
    }
    return (ListView(findings), CacheError.Code.worst(of: findings.compactMap(\.code)))
  }

  /// All mistakes in the configuration, or its source.
  private func configuration(_ problems: [ConfigurationError], _ flags: ConfigurationFlags) -> [Finding] {
    let name = "configuration"
    let path = loader.file(flags).path
    let file = files.file(at: path)
    var findings = problems.map { problem in
      let code = problem.code == .permissionDenied ? CacheError.Code.permissionDenied : .invalidOption
      return Finding.problem(name, code, problem.message, hint: problem.hint)
    }
    // A user who can change the file decides where plugins and responses come from.
    if let file { findings += checks.writable(file, path, name) }
    if findings.isEmpty {
      findings.append(.ok(name, file == nil ? "no file: every setting has its default" : "\(path) is valid"))
    }
    return findings + loader.ignoredVariables.map { Finding.warning(name, $0.message, hint: $0.hint) }
  }

  /// Checks the libraries, the transforms, the space for the stores, each store, and the clock.
  private func engines(_ configuration: Configuration) async -> [Finding] {
    let container = AppDIContainer(configuration: configuration, catalogue: self.catalogue, clock: clock)
    let catalogue = container.catalogue
    let found = FoundLibraries(libraries, searchPath: configuration.pluginSearchPath, catalogue: catalogue)
    var stores: [(name: String, result: StoreCheck.Result)] = []
    for plugin in catalogue.plugins {
      let check = StoreCheck(plugin: plugin, container: container, checks: checks)
      stores.append((plugin.declaration.name, await check.run()))
    }
    let engine = catalogue.declarations.first { $0.name == configuration.storeEngine }
    let space = checks.space(
      home: configuration.home,
      maximumBytes: engine?.capabilities.contains(.bounded) == false ? 0 : configuration.cache.limits.maxBytes,
      usedBytes: stores.first { $0.name == configuration.storeEngine }?.result.payloadBytes ?? 0)
    var findings = checks.plugins(configuration.pluginSearchPath)
    findings += Self.libraries(found)
    findings += transforms(container)
    findings.append(space)
    findings += stores.flatMap(\.result.findings)
    findings += checks.setAside(
      zip(catalogue.declarations, stores).compactMap { engine, store in
        store.result.path.map { (engine: engine, path: $0) }
      })
    findings.append(time(stores.map { (what: "a file of \($0.name) was changed", at: $0.result.newestFile) }))
    return findings
  }

  /// Names the libraries in the search path that cannot be chosen by the name of their engine. Loads none of them.
  private static func libraries(_ found: FoundLibraries) -> [Finding] {
    let ambiguous = found.usable.filter { found.ambiguous.contains($0.name) }.map { library in
      Finding.warning(
        "libraries", "\(library.path) is not found by its name, which a library in another folder has too",
        hint: "name it by its path, or remove one of them")
    }
    return ambiguous
      + found.unusable.map { library in
        Finding.warning(
          "libraries", "\(library.path) is not used: the engine \(library.name) is built in",
          hint: "remove it, or give its engine another name")
      }
  }

  /// Checks that the configured transforms can be used, and that they refuse entries in the clear.
  private func transforms(_ container: AppDIContainer) -> [Finding] {
    let name = "transforms"
    do throws(CacheError) { try container.requireTransforms() } catch { return [.problem(name, error)] }
    return container.entryTransforms.written.filter { $0.hidesContent && !$0.isRequired }.map { transform in
      .warning(
        name, "entries that are not \(transform.name) are served too",
        hint: "set transforms.\(transform.name).required to true when all of them are replaced or expired")
    }
  }

  /// Checks that nothing happened after now by the clock, on which the freshness of entries depends: the program was built,
  /// and `changes` were made, before.
  private func time(_ changes: [(what: String, at: Timestamp?)]) -> Finding {
    let now = clock.now
    let program = files.file(at: ExecutableFile.path).map { Timestamp(milliseconds: $0.changedAt) }
    let text = RFC3339Text.text(now.sinceEpoch)
    for (what, time) in [(what: "this program was built", at: program)] + changes {
      guard let time, time.isAhead(of: now) else { continue }
      return .warning(
        "clock", "\(what) at \(RFC3339Text.text(time.sinceEpoch)), but it is \(text) by the clock",
        hint: "set the clock: until it is right, fresh entries might be served too long or not at all")
    }
    return .ok("clock", "it is \(text), and no file is from the future")
  }
}

/// The result of one check of the doctor.
struct Finding: Sendable {
  /// How serious a finding is.
  enum Result: String, Sendable, CaseIterable {
    /// All is well.
    case ok
    /// It is worth knowing, but everything works.
    case warning
    /// Something does not work, or is not safe.
    case problem
  }

  /// The subject of the check.
  let name: String
  /// How serious the finding is.
  let result: Result
  /// The finding, in one line.
  let message: String
  /// Advice; empty if there is none.
  let hint: String
  /// The kind of failure that the user would see; `nil` unless the result is a problem.
  let code: CacheError.Code?

  private static var given: GivenOptions { .ofProcess }

  static func ok(_ name: String, _ message: String) -> Finding {
    Finding(name: name, result: .ok, message: message, hint: "", code: nil)
  }

  static func warning(_ name: String, _ message: String, hint: String) -> Finding {
    Finding(name: name, result: .warning, message: message, hint: given.repeated(in: hint), code: nil)
  }

  static func problem(_ name: String, _ code: CacheError.Code, _ message: String, hint: String) -> Finding {
    Finding(name: name, result: .problem, message: message, hint: given.repeated(in: hint), code: code)
  }

  static func problem(_ name: String, _ error: CacheError) -> Finding {
    problem(name, error.code, error.message, hint: ErrorView(error).hint)
  }
}

extension ListView<Finding> {
  /// The result of each check, in their order. People see the hint below the finding.
  init(_ checks: [Finding]) {
    let count = { @Sendable (result: Finding.Result) in checks.count { $0.result == result } }
    let columns: [Column<Finding>] = [
      Column("name") { .string($0.name) }, Column("result") { .string($0.result.rawValue) },
      Column("message") { .string($0.message) }, Column("hint") { JSONValue($0.hint.isEmpty ? nil : $0.hint) },
    ]
    let (warnings, problems) = (count(.warning), count(.problem))
    let counts = [
      NumberText.count(problems, "problem", "problems"), NumberText.count(warnings, "warning", "warnings"),
    ]
    let isInOrder = problems + warnings == 0
    self.init(
      checks, columns,
      status: isInOrder
        ? StatusLine(["Everything is in order"], style: .green)
        : StatusLine(counts, style: problems > 0 ? .red : .yellow)
    ) { records in
      [
        "ok": .integer(count(.ok)), "warnings": .integer(warnings), "problems": .integer(problems),
        "checks": .array(records),
      ]
    } text: { screen, hasHeader in
      let table = Table([.init("Result"), .init("Check"), .init("Found")], rows: checks.flatMap(\.rows))
      return table.stackedText(on: screen, leading: 2)
        ?? table.text(on: screen, hasHeader: hasHeader, layout: .wrapped)
    }
  }
}

extension Finding {
  fileprivate var rows: [[Table.Cell]] {
    let style: TextStyle = result == .ok ? .green : result == .warning ? .yellow : .red
    let found = [Table.Cell(result.rawValue, style), Table.Cell(name, .plain), Table.Cell(message, .plain)]
    return hint.isEmpty ? [found] : [found, ["", "", Table.Cell(hint, .dim)]]
  }
}

extension CacheError.Code {
  /// The codes of problems, the most serious first: each must be solved before the next ones can be judged.
  private static let bySeriousness: [CacheError.Code] = [
    .invalidOption, .permissionDenied, .damaged, .unsupportedFormat, .cannotCreate,
    .noSpace, .ioFailed, .busy,
  ]

  /// The most serious of `codes`; `nil` if there are none.
  static func worst(of codes: [CacheError.Code]) -> CacheError.Code? {
    bySeriousness.first { codes.contains($0) } ?? codes.first
  }
}
