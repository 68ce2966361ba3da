public import CacheCore
internal import FetchVocabulary
public import EngineAPI

/// Builds everything from the configuration: the engine by its name, and what the containers of the resources need.
///
/// It is the composition root: nothing outside this target knows which engine or which origin is in use.
public struct AppDIContainer: Sendable {
  /// The configuration that everything is built from.
  public let configuration: Configuration
  package let catalogue: PluginCatalogue
  private let transforms: [any TransformSettings.Type]
  private let layers: [any LayerSettings.Type]
  package let clock: any WallClock
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
    configuration: Configuration, catalogue: PluginCatalogue = .builtIn,
    transforms: [any TransformSettings.Type] = .builtIn, layers: [any LayerSettings.Type] = .builtIn,
    clock: any WallClock = SystemWallClock(),
    userAgent: String = "cachectl",
    transfer: @escaping @Sendable (Configuration.Transport) -> any DataTransferService = NetworkServiceFactory()
      .makeService,
    observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    self.observe = observe
    self.userAgent = userAgent
    self.transfer = transfer
    self.configuration = configuration
    self.catalogue = catalogue.adding(configuration.loadedEngines)
    self.transforms = transforms
    self.layers = layers
    self.clock = clock
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

  /// Opens the store of the configured engine as it is, even if its damage has ended a process, to save what can be read.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  package func openDamagedStore() async throws(CacheError) -> OpenStore {
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
  package func crashedStore(backend: String) throws(CacheError) -> CrashedStore? {
    let (plugin, options) = try engine(backend)
    return CrashedStore(plugin, options)
  }

  /// Whether the engine called `backend` has a store; `nil` if only opening it would tell. Never creates a store.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, such as a server's that does not answer, or
  ///   `unknownBackend`.
  public func hasStore(backend: String) async throws(CacheError) -> Bool? {
    do throws(CacheError) {
      let (plugin, options) = try engine(backend)
      return try await plugin.inspect(options).exists
    } catch {
      if error.code == .unsupported { return nil }
      throw configuration.namingSource(of: error, backend: backend)
    }
  }

  /// Opens the store for fetching. Fetches go on without a damaged or unreachable store, because it must not keep an
  /// answer from the user; each fetch then carries the reason as a warning.
  ///
  /// - Throws: `CacheError` if the store cannot be created at all, or the set-up has another mistake.
  public func openStoreForFetching() async throws(CacheError) -> OpenStore {
    try requireTransforms()
    do throws(CacheError) {
      return try await openStore()
    } catch {
      if [.cannotCreate, .unknownBackend, .invalidOption].contains(error.code) { throw error }
      let engine = AwaitedEngine(after: error, clock: clock) { _ throws(CacheError) in throw error }
      let plugin = try? layered(configuration.backend)
      let entries = EntryStore(
        over: engine, of: plugin, clock, limits: configuration.cache.limits, transforms: entryTransforms)
      return OpenStore(entries)
    }
  }

  /// What the container of a resource over `store` is made of.
  public func context(_ store: OpenStore) -> ResourceContext {
    ResourceContext(
      store: store.entries, configuration: configuration, services: services(store), userAgent: userAgent,
      makeTransfer: transfer)
  }

  /// What entries are written with, and what those that were written with something else are read with.
  package var entryTransforms: EntryTransforms { configuration.transforms(transforms) }

  /// Makes sure that entries can be written.
  ///
  /// - Throws: `CacheError`: a setting of a configured transform is missing.
  package func requireTransforms() throws(CacheError) { try configuration.requireTransforms(transforms) }

  /// The current time, since 1970-01-01T00:00:00Z.
  public var now: Duration { clock.now.sinceEpoch }

  /// The engine called `backend` in the configured layers, and what to open its store with.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend` or `invalidOption`.
  package func engine(
    _ backend: String
  ) throws(CacheError) -> (plugin: any StoragePlugin, options: EngineConfiguration) {
    let plugin = try layered(backend)
    return (plugin, try engineConfiguration(for: plugin.declaration))
  }

  private func layered(_ backend: String) throws(CacheError) -> any StoragePlugin {
    let plugin =
      backend == TieredSettings.name ? try configuration.tiered(catalogue) : try catalogue.plugin(named: backend)
    return try configuration.layered(plugin, layers)
  }

  /// The configuration to open the engine that declares `declaration`.
  package func engineConfiguration(for declaration: EngineDeclaration) throws(CacheError) -> EngineConfiguration {
    let values = configuration.options(of: declaration.name)
    return try EngineConfiguration(for: declaration, values: values, clock: clock)
  }

  private func services(_ store: OpenStore) -> FetchServices {
    let cache = configuration.cache
    var rules = HTTPCacheRules(isShared: cache.isShared, freshness: cache.freshness)
    rules.credentialKey = CredentialKey(file: "\(configuration.home)/credentials.key")
    return FetchServices(
      rules: rules,
      now: { [clock] in clock.now.sinceEpoch }, coalescer: store.entries.coalescer, background: store.background,
      observe: observe)
  }
}
