internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineConformance
internal import EngineAPI

/// Presents the engines as views: those built in or loaded, and libraries that could be loaded.
struct BackendsPresenter: Sendable {
  private let container: AppDIContainer
  private let libraries: EngineLibraries

  init(container: AppDIContainer, libraries: EngineLibraries) {
    self.container = container
    self.libraries = libraries
  }

  /// The names of the engines that the program was built with.
  static var programNames: [String] { Cachectl.current.catalogue.declarations.map(\.name) }

  /// The names of all engines, including libraries that are not loaded.
  var names: [String] {
    var names = container.catalogue.declarations.map(\.name)
    for library in found.usable where !names.contains(library.name) { names.append(library.name) }
    return names
  }

  /// All engines, with the configured one marked. Lists libraries of the search path without loading them.
  func list() -> BackendsView {
    let found = found
    let known = container.catalogue.declarations.map(row)
    return BackendsView(
      known + found.usable.map { BackendRow($0, isAmbiguous: found.ambiguous.contains($0.name)) },
      selected: container.configuration.backend, warnings: found.unusable.map(ErrorView.init))
  }

  /// The engine called `name`, with its options.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend`.
  func backend(_ name: String) throws(CacheError) -> BackendView {
    let declaration = try plugin(name).declaration
    return BackendView(row(declaration), options: declaration.options)
  }

  /// Runs the whole conformance suite over the engine called `name` with its configured options. Uses only stores below
  /// `scratchFolder` and stores with names of their own.
  ///
  /// - Parameters:
  ///   - seed: the seed of the random checks.
  ///   - progress: called after each check, and once before the first without a check.
  /// - Throws: `CacheError` with the code `unknownBackend` or `invalidOption`, or what `progress` throws. A failed
  ///   check is part of the view, not an error.
  func test(
    _ name: String, scratchFolder: String, seed: UInt64, progress: (ChecksView.CheckRow) -> Void
  ) async throws(CacheError) -> ChecksView {
    let subject = try subject(name, scratchFolder: scratchFolder)
    let report = await ConformanceSuite.run(subject, seed: seed) { progress(ChecksView.CheckRow($0)) }
    return ChecksView(backend: name, checks: report.outcomes.map(ChecksView.CheckRow.init))
  }

  /// Checks that the engine called `name` can be tested.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend` or `invalidOption`.
  func requireTestable(_ name: String) throws(CacheError) {
    _ = try subject(name, scratchFolder: container.configuration.home)
  }

  private func subject(_ name: String, scratchFolder: String) throws(CacheError) -> ConformanceSubject {
    let plugin = try plugin(name)
    return try ConformanceSubject(
      plugin: plugin, values: container.configuration.options(of: name), scratchFolder: scratchFolder)
  }

  private func plugin(_ name: String) throws(CacheError) -> any StoragePlugin {
    try container.catalogue.plugin(named: name)
  }

  private var found: FoundLibraries {
    FoundLibraries(
      libraries, searchPath: container.configuration.pluginSearchPath, catalogue: container.catalogue)
  }

  private func row(_ declaration: EngineDeclaration) -> BackendRow {
    BackendRow(
      name: declaration.name, version: declaration.version, summary: declaration.summary,
      path: container.catalogue.path(ofLibrary: declaration.name),
      capabilities: declaration.capabilities.map(\.rawValue).sorted())
  }
}

extension AppDIContainer {
  /// The presenter for the engines, including those of `libraries`.
  func makeBackendsPresenter(_ libraries: EngineLibraries = .ofProcess()) -> BackendsPresenter {
    BackendsPresenter(container: self, libraries: libraries)
  }
}

extension BackendRow {
  /// The row of a library that is not loaded; `isAmbiguous` if another library has the same name.
  fileprivate init(_ library: EngineLibrary, isAmbiguous: Bool) {
    let summary =
      isAmbiguous
      ? "not loaded; another folder has one too: name it by its path"
      : "not loaded; see: cachectl backends show \(library.name)"
    self.init(name: library.name, version: nil, summary: summary, path: library.path, capabilities: [])
  }
}

extension ErrorView {
  /// The warning that `library` is not usable.
  fileprivate init(_ library: EngineLibrary) {
    self.init(
      code: "invalidPlugin", message: "\(library.path) is not used: the engine \(library.name) is built in",
      hint: "remove it, or give its engine another name")
  }
}

extension ChecksView.CheckRow {
  fileprivate init(_ outcome: ConformanceOutcome) {
    let result: Result =
      switch outcome.result {
      case .passed: .passed
      case .failed: .failed
      case .skipped: .skipped
      }
    self.init(name: outcome.check.name, result: result, message: outcome.message)
  }
}
