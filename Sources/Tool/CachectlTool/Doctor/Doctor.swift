internal import FetchVocabulary
internal import CachePresentation
internal import CacheBase
internal import CacheCore
internal import EngineAPI

/// Examines the set-up: the configuration, permissions, space, each store, and the clock. It changes nothing and
/// creates no store.
struct Doctor: Sendable {
  private let loader: ConfigurationLoader
  private let libraries: EngineLibraries
  private let catalogue: PluginCatalogue
  private let clock: any WallClock
  private let files: any FileInspection

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
  }

  /// Makes every check.
  ///
  /// - Returns: the findings, and the kind of the most serious problem; `nil` if there is none.
  /// - Throws: `ConfigurationError` if a flag is wrong, which is a mistake of the command line.
  func examine(
    _ flags: ConfigurationFlags
  ) async throws(ConfigurationError) -> (view: DoctorView, worst: CacheError.Code?) {
    let (configuration, problems) = loader.read(flags)
    if let mistake = problems.first(where: \.isOfCommandLine) { throw mistake }
    let folders = FolderChecks(files: files)
    var findings = ConfigurationCheck(loader: loader, files: files).findings(flags, problems)
    // If there is no home folder, that is a finding about the configuration.
    if let home = try? loader.locations.home(flags).path { findings += folders.home(home) }
    if let configuration {
      let catalogue = catalogue.adding(configuration.loadedEngines)
      findings += folders.plugins(configuration.pluginSearchPath)
      let others = FoundLibraries(
        libraries, searchPath: configuration.pluginSearchPath, catalogue: catalogue)
      findings += LibraryCheck(catalogue: catalogue, found: others).findings
      findings += await stores(configuration, catalogue, others)
    } else {
      findings.append(
        .warning("stores", "are not looked at", hint: "put the configuration right, and ask again"))
      findings += ClockCheck(now: clock.now).findings([program])
    }
    return (DoctorView(findings), CacheError.Code.worst(of: findings.compactMap(\.code)))
  }

  /// Checks the space for the stores, each store, leftovers, and the clock.
  private func stores(
    _ configuration: Configuration, _ catalogue: PluginCatalogue, _ others: FoundLibraries
  ) async -> [Finding] {
    let container = AppDIContainer(configuration: configuration, catalogue: self.catalogue, clock: clock)
    var stores: [(name: String, result: StoreCheck.Result)] = []
    for plugin in catalogue.plugins {
      let check = StoreCheck(plugin: plugin, container: container, files: files)
      stores.append((plugin.declaration.name, await check.run()))
    }
    let engine = catalogue.declarations.first { $0.name == configuration.storeEngine }
    let space = SpaceCheck(files: files).finding(
      home: configuration.home,
      maximumBytes: engine?.capabilities.contains(.bounded) == false ? 0 : configuration.cache.limits.maxBytes,
      usedBytes: stores.first { $0.name == configuration.storeEngine }?.result.payloadBytes ?? 0)
    return TransformCheck(container: container).findings + [space] + stores.flatMap(\.result.findings)
      + LeftoverCheck(files: files).findings(
        home: configuration.home, stores: stores + others.usable.map { ($0.name, StoreCheck.Result()) })
      + ClockCheck(now: clock.now).findings(
        [program] + stores.map { .init(name: "a file of \($0.name) was changed", time: $0.result.newestFile) },
        stores.map { ($0.name, $0.result.ahead) })
  }

  /// The program cannot have been built after now.
  private var program: ClockCheck.Witness {
    let file = files.file(at: ExecutableFile.path)
    return ClockCheck.Witness(
      name: "this program was built", time: file.map { Timestamp(milliseconds: $0.changedAt) })
  }
}
