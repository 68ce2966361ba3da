public import CacheCore
public import EngineAPI
internal import FetchVocabulary

/// Builds everything once from the configuration, and is then asked: the engines by their names, the transforms, and what
/// the containers of the resources need.
///
/// It is the composition root: nothing else knows which engine or which origin is in use.
public final class AppDIContainer: Sendable {
  /// An engine in the configured layers, and what to open its store with.
  typealias Engine = (plugin: any StoragePlugin, options: EngineConfiguration)

  /// The configuration that everything is built from.
  public let configuration: Configuration
  let catalogue: PluginCatalogue
  let clock: any WallClock
  /// The transforms for writing entries, and for reading entries written with others.
  let entryTransforms: EntryTransforms
  /// Why entries cannot be written; `nil` if they can.
  private let transformProblem: CacheError?
  /// The configured engine and the others that the command names.
  private let engines: [(name: String, engine: Result<Engine, CacheError>)]
  private let makeEngine: @Sendable (String) throws(CacheError) -> Engine
  private let userAgent: String
  private let transfer: @Sendable (Configuration.Transport) -> any DataTransferService
  private let observe: (@Sendable (FetchExplanation) -> Void)?

  /// The container for `configuration`, with the engines of `catalogue`, the engines loaded for the configuration, and
  /// the time of `clock`.
  ///
  /// - Parameters:
  ///   - transforms: the payload transforms that the configuration can name.
  ///   - layers: the engine layers that the configuration can name.
  ///   - userAgent: the client's name for servers, in the syntax of RFC 9110, section 10.1.5.
  ///   - transfer: makes the service that transfers an origin's requests, under its configured limits. The requests
  ///     contain the configured headers already.
  ///   - observe: called with how each value was fetched.
  public init(
    configuration: Configuration, catalogue: PluginCatalogue = .standard,
    transforms: [any TransformSettings.Type] = .standard, layers: [any LayerSettings.Type] = .standard,
    clock: any WallClock = SystemWallClock(),
    userAgent: String = "cachectl",
    transfer: @escaping @Sendable (Configuration.Transport) -> any DataTransferService = NetworkServiceFactory()
      .makeService,
    observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    let catalogue = catalogue.adding(configuration.loadedEngines)
    self.configuration = configuration
    self.catalogue = catalogue
    self.clock = clock
    self.userAgent = userAgent
    self.transfer = transfer
    self.observe = observe
    (entryTransforms, transformProblem) = configuration.transforms(transforms)
    let makeEngine: @Sendable (String) throws(CacheError) -> Engine = { name throws(CacheError) in
      let plugin =
        name == TieredSettings.name ? try configuration.tiered(catalogue) : try catalogue.plugin(named: name)
      let layered = try configuration.layered(plugin, layers)
      return (layered, try configuration.engineConfiguration(for: layered.declaration, clock))
    }
    engines = configuration.namedEngines.map { name in
      (name, Result { () throws(CacheError) in try makeEngine(name) })
    }
    self.makeEngine = makeEngine
  }

  /// The engine called `name` in the configured layers, and what to open its store with.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend` or `invalidOption`.
  func engine(_ name: String) throws(CacheError) -> Engine {
    guard let found = engines.first(where: { $0.name == name }) else { return try makeEngine(name) }
    return try found.engine.get()
  }

  /// The arguments for opening a store of the engine outside of the configured layers.
  func engineConfiguration(for declaration: EngineDeclaration) throws(CacheError) -> EngineConfiguration {
    try configuration.engineConfiguration(for: declaration, clock)
  }

  /// Opens the store of the configured engine.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  public func openStore() async throws(CacheError) -> OpenStore {
    try await openStore(backend: configuration.backend)
  }

  /// Opens the store of the engine called `backend`, with its configured options.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, or `unknownBackend`.
  public func openStore(backend: String) async throws(CacheError) -> OpenStore {
    do throws(CacheError) {
      let (plugin, options) = try engine(backend)
      return try await open(plugin, options)
    } catch {
      throw configuration.namingSource(of: error, backend: backend)
    }
  }

  /// Opens the store of the engine called `backend` like `openStore(backend:)`, but creates none: the result is an empty one
  /// that keeps nothing.
  ///
  /// A server is not asked first: opening a store there creates nothing.
  func openExistingStore(backend: String) async throws(CacheError) -> OpenStore {
    guard let (plugin, options) = try? engine(backend), plugin.declaration.capabilities.contains(.persistent),
      !plugin.declaration.isOnServer, !options.hasCrashMark,
      let place = try? await plugin.inspect(options), !place.exists
    else { return try await openStore(backend: backend) }
    let entries = EntryStore(
      over: EmptyEngine(), of: plugin, clock, limits: configuration.cache.limits, transforms: entryTransforms)
    return OpenStore(entries, missingAt: place.path)
  }

  /// Opens the store of the configured engine as it is, even if its damage has ended a process, to save what can be read.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  func openDamagedStore() async throws(CacheError) -> OpenStore {
    let (plugin, options) = try engine(configuration.backend)
    var repairing = options
    repairing.isForRepair = true
    return try await open(plugin, repairing)
  }

  private func open(
    _ plugin: any StoragePlugin, _ options: EngineConfiguration
  ) async throws(CacheError) -> OpenStore {
    let (entries, warning) = try await EntryStore.open(
      plugin, options, limits: configuration.cache.limits, transforms: entryTransforms, home: configuration.home)
    return OpenStore(entries, warning: warning)
  }

  /// The store of the engine called `backend` if its damage has ended a process.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend` or `invalidOption`.
  func crashedStore(backend: String) throws(CacheError) -> CrashedStore? {
    let (plugin, options) = try engine(backend)
    return CrashedStore(plugin, options)
  }

  /// Whether the engine called `backend` has a store; `nil` if only opening it would tell. Never creates a store.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, such as a server's that does not respond, or
  ///   `unknownBackend`.
  func hasStore(backend: String) async throws(CacheError) -> Bool? {
    do throws(CacheError) {
      let (plugin, options) = try engine(backend)
      return try await plugin.inspect(options).exists
    } catch {
      if error.code == .unsupported { return nil }
      throw configuration.namingSource(of: error, backend: backend)
    }
  }

  /// Opens the store for fetching. Fetches continue without a damaged or unreachable store, because it must not keep a
  /// response from the user; each fetch then carries the reason as a warning.
  ///
  /// - Throws: `CacheError` if the store cannot be created at all, or the setup has another mistake.
  public func openStoreForFetching() async throws(CacheError) -> OpenStore {
    try await openStoreForFetching(creating: true)
  }

  /// The same; if there is no store, and none is to be created, the result is an empty one that keeps nothing.
  func openStoreForFetching(creating isCreated: Bool) async throws(CacheError) -> OpenStore {
    try requireTransforms()
    do throws(CacheError) {
      return try await isCreated ? openStore() : openExistingStore(backend: configuration.backend)
    } catch {
      if [.cannotCreate, .unknownBackend, .invalidOption].contains(error.code) { throw error }
      let (plugin, _) = try self.engine(configuration.backend)
      let engine = AwaitedEngine(after: error, clock: clock) { _ throws(CacheError) in throw error }
      return OpenStore(
        EntryStore(over: engine, of: plugin, clock, limits: configuration.cache.limits, transforms: entryTransforms))
    }
  }

  /// Makes sure that entries can be written.
  ///
  /// - Throws: `CacheError`: a setting of a configured transform is missing.
  func requireTransforms() throws(CacheError) {
    if let transformProblem { throw transformProblem }
  }

  /// The current time, since 1970-01-01T00:00:00Z.
  public var now: Duration { clock.now.sinceEpoch }

  /// The parts of the container of a resource over `store`.
  public func context(_ store: OpenStore) -> ResourceContext {
    let cache = configuration.cache
    var rules = HTTPCacheRules(isShared: cache.isShared, freshness: cache.freshness)
    rules.credentialKey = CredentialKey(file: "\(configuration.home)/credentials.key")
    let services = FetchServices(
      rules: rules, now: { [clock] in clock.now.sinceEpoch }, coalescer: store.entries.coalescer,
      background: store.background, observe: observe)
    return ResourceContext(
      store: store.entries, configuration: configuration, services: services, userAgent: userAgent,
      makeTransfer: transfer)
  }
}

extension Configuration {
  /// The arguments for opening the store of the engine that declares `declaration`.
  fileprivate func engineConfiguration(
    for declaration: EngineDeclaration, _ clock: any WallClock
  ) throws(CacheError) -> EngineConfiguration {
    try EngineConfiguration(for: declaration, values: try options(of: declaration.name), clock: clock)
  }
}

/// An open store with its companions. Its opener closes it.
public struct OpenStore: Sendable {
  /// The entries of the store, including those of other storages.
  public let entries: EntryStore
  let background = BackgroundWork()
  /// A warning for the user about the files at the place of the store.
  public let warning: CacheError?
  /// The place of a store that does not exist and was not created; otherwise `nil`.
  let missingPath: String?

  init(_ entries: EntryStore, warning: CacheError? = nil, missingAt path: String? = nil) {
    self.entries = entries
    self.warning = warning
    missingPath = path
  }

  /// The administration of the store.
  public var administration: StoreAdministration { StoreAdministration(entries) }

  /// A warning about the tiers of the store; `nil` if all is well, or it has none.
  var tierWarning: CacheError? { entries.tiered?.tierWarning }

  /// In which tier of the store the entry under `key` is, in a few words; `nil` if it has no tiers.
  func tier(of key: String) async -> String? {
    guard let tiered = entries.tiered, let key = try? CacheKey(key) else { return nil }
    return await tiered.tier(of: key)
  }

  /// Waits for background work, such as the revalidation of a stale entry.
  ///
  /// - Returns: the failures to store responses.
  public func finishBackgroundWork() async -> [CacheError] { await background.finish() }

  /// Waits for background work, and closes the store.
  ///
  /// - Throws: `CacheError`: the engine could not be closed in order, or the use of the store not be recorded.
  public func close() async throws(CacheError) {
    await background.finish()
    if let warning = try await entries.close() { throw warning }
  }
}
