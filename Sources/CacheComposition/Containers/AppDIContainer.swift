public import CacheData
public import CacheDomain
internal import ResponseStorage
public import StorageSPI

/// Makes everything out of the configuration: the engine by its name, and the containers of the features over it.
///
/// It is the composition root: nothing outside this target knows which engine or which origin is in use.
public struct AppDIContainer: Sendable {
  /// The configuration that everything is made from.
  public let configuration: Configuration
  let catalogue: PluginCatalogue
  let clock: any WallClock
  private let origins: OriginFactory
  private let observe: (@Sendable (FetchExplanation) -> Void)?

  /// The container for `configuration`, with the engines of `catalogue`, those that were loaded for the configuration,
  /// and the time of `clock`.
  ///
  /// - Parameters:
  ///   - userAgent: what servers are told that the client is, as RFC 9110, section 10.1.5, writes it.
  ///   - transfer: makes what carries the requests of an origin, under the limits that are configured for it. The
  ///     configured headers are in the requests already.
  ///   - observe: is told how each fetched value came about.
  public init(
    configuration: Configuration, catalogue: PluginCatalogue = .builtIn, clock: any WallClock = SystemWallClock(),
    userAgent: String = "cachectl",
    transfer: @escaping @Sendable (Configuration.Transport) -> any DataTransferService = NetworkServiceFactory()
      .makeService,
    observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    self.observe = observe
    origins = OriginFactory(userAgent: userAgent, makeTransfer: transfer)
    self.configuration = configuration
    self.catalogue = catalogue.adding(configuration.loadedEngines)
    self.clock = clock
  }

  /// Opens the store of the configured engine.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  public func openStore() async throws(CacheError) -> OpenStore {
    try await openStore(backend: configuration.backend)
  }

  /// Opens the store of the engine called `backend`, with the options that are configured for it.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, or `unknownBackend`.
  public func openStore(backend: String) async throws(CacheError) -> OpenStore {
    do throws(StorageError) {
      return makeStore(over: try await openEngine(backend), of: backend)
    } catch {
      throw CacheError(error)
    }
  }

  /// Whether the engine called `backend` has a store already; `nil` where that cannot be told without opening it. Where
  /// it has none, none is made.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, such as that of a server that does not answer, or
  ///   `unknownBackend`.
  public func hasStore(backend: String) async throws(CacheError) -> Bool? {
    do throws(StorageError) {
      let (plugin, options) = try engine(backend)
      return try await plugin.inspect(options).exists
    } catch {
      if error.code == .unsupported { return nil }
      throw CacheError(error)
    }
  }

  /// Opens the store for fetching: a damaged or unreachable one is done without, because it must not keep an answer
  /// from the user. Each fetch then carries the reason as a warning.
  ///
  /// - Throws: `CacheError` where the store cannot be created at all, or the set-up is wrong in another way.
  public func openStoreForFetching() async throws(CacheError) -> OpenStore {
    let backend = configuration.backend
    do throws(StorageError) {
      return makeStore(over: try await openEngine(backend), of: backend)
    } catch {
      if [.cannotCreate, .unknownBackend, .invalidOption].contains(error.code) { throw CacheError(error) }
      return makeStore(over: UnavailableEngine(reason: error), of: backend)
    }
  }

  /// The container of the cities feature over `store`.
  ///
  /// - Throws: `CacheError` where the configured origin has no address.
  public func makeCitiesDIContainer(_ store: OpenStore) throws(CacheError) -> CitiesDIContainer {
    CitiesDIContainer(
      store: store.entries, origin: try origins.makeCityOrigin(configuration.cities), services: services(store))
  }

  /// The container of the movies feature over `store`.
  ///
  /// - Throws: `CacheError` where the configured origin has no address.
  public func makeMoviesDIContainer(_ store: OpenStore) throws(CacheError) -> MoviesDIContainer {
    MoviesDIContainer(
      store: store.entries, queries: makeMovieQueriesDIContainer(store),
      movieOrigin: try origins.makeMovieOrigin(configuration.movies),
      posterOrigin: try origins.makePosterOrigin(configuration.movies), services: services(store))
  }

  /// The container of fetching URLs over `store`, whose transfers are made as `demands` say.
  public func makeURLsDIContainer(
    _ store: OpenStore, _ demands: TransferDemands = TransferDemands()
  ) -> URLsDIContainer {
    let maxEntryBytes = configuration.cache.maxEntryBytes
    let transport = Configuration.Transport.urls(
      maxEntryBytes: maxEntryBytes, network: configuration.network, demands)
    var services = services(store)
    services.rules.isInsecure = demands.isInsecure
    let files = NetworkFiles(transport.network)
    return URLsDIContainer(
      store: store.entries,
      transfer: files.problem.map { UnavailableTransfer(reason: $0) } ?? origins.makeTransfer(transport),
      userAgent: origins.userAgent, clientIdentity: files.clientIdentity, services: services,
      maxEntryBytes: maxEntryBytes, isDecoding: demands.isCompressed)
  }

  /// The current time, since 1970-01-01T00:00:00Z.
  public var now: Duration { clock.now.sinceEpoch }

  /// The container of the recent queries feature over `store`.
  public func makeMovieQueriesDIContainer(_ store: OpenStore) -> MovieQueriesDIContainer {
    MovieQueriesDIContainer(store: store.entries, maximumCount: configuration.maxQueries)
  }

  func engine(
    _ backend: String
  ) throws(StorageError) -> (plugin: any StoragePlugin, options: EngineConfiguration) {
    let plugin = try catalogue.plugin(named: backend)
    return (plugin, try engineConfiguration(for: plugin.declaration))
  }

  /// What the engine that declares `declaration` is opened with.
  func engineConfiguration(for declaration: EngineDeclaration) throws(StorageError) -> EngineConfiguration {
    let values = configuration.options(of: declaration.name)
    return try EngineConfiguration(for: declaration, values: values, clock: clock)
  }

  private func openEngine(_ backend: String) async throws(StorageError) -> any StorageEngine {
    let (plugin, options) = try engine(backend)
    return try await plugin.open(options)
  }

  func makeStore(
    over engine: any StorageEngine, of backend: String, warning: CacheError? = nil
  ) -> OpenStore {
    let usage = usageFiles(of: backend)
    // Those of as many entries again as there may be, so that one which comes back is known.
    let capacity = max(configuration.cache.maxEntries * 2, 1 << 16)
    let entries = EntryStore(
      engine: engine, clock: clock, limits: StoreLimits(configuration.cache),
      uses: EntryUses(log: usage.map { FileUseLog($0.uses, capacity: capacity) } ?? MemoryUseLog()),
      removesExpired: !engineOf(backend, has: .nativeExpiry))
    return OpenStore(
      entries: entries, flights: makeFlights(entries, of: backend),
      ledger: usage.map { FileUsageLedger(file: $0.usage) } ?? MemoryUsageLedger(), warning: warning)
  }

  /// The files in which the use of the store is kept; `nil` where the store does not outlive the process.
  private func usageFiles(of backend: String) -> UsageFiles? {
    guard let declaration = try? catalogue.plugin(named: backend).declaration,
      declaration.capabilities.contains(.persistent)
    else { return nil }
    return UsageFiles(of: declaration, configuration.options(of: backend), home: configuration.home)
  }

  private func engineOf(_ backend: String, has capability: EngineCapability) -> Bool {
    (try? catalogue.plugin(named: backend))?.declaration.capabilities.contains(capability) == true
  }

  /// A store that no other process can use at the same time needs no leases.
  private func makeFlights(_ store: EntryStore, of backend: String) -> any FetchFlights {
    guard engineOf(backend, has: .shared) else { return LocalFlights() }
    let processes = SystemProcessTable()
    return LeasedFlights(store: store, processes: processes) {
      LeaseHolder(name: String(UInt64.random(in: 0 ... .max), radix: 16), process: processes.current)
    }
  }

  private func services(_ store: OpenStore) -> FetchServices {
    FetchServices(
      rules: HTTPCacheRules(isShared: configuration.cache.isShared, freshness: freshness),
      now: { [clock] in clock.now.sinceEpoch }, flights: store.flights, background: store.background, observe: observe)
  }

  private var freshness: FreshnessPolicy {
    FreshnessPolicy(
      timeToLive: configuration.cache.timeToLive, staleIfError: configuration.cache.staleIfError,
      staleWhileRevalidate: configuration.cache.staleWhileRevalidate)
  }
}
