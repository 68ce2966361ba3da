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

  /// The container for `configuration`, with the engines of `catalogue` and the time of `clock`.
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
    self.catalogue = catalogue
    self.clock = clock
  }

  /// Opens the store of the configured engine.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure.
  public func openStore() async throws(CacheError) -> OpenStore {
    do throws(StorageError) {
      return openStore(over: try await openEngine())
    } catch {
      throw CacheError(error)
    }
  }

  /// Opens the store for fetching: a damaged or unreachable one is done without, because it must not keep an answer
  /// from the user. Each fetch then carries the reason as a warning.
  ///
  /// - Throws: `CacheError` where the store cannot be created at all, or the set-up is wrong in another way.
  public func openStoreForFetching() async throws(CacheError) -> OpenStore {
    do throws(StorageError) {
      return openStore(over: try await openEngine())
    } catch {
      if [.cannotCreate, .unknownBackend, .invalidOption].contains(error.code) { throw CacheError(error) }
      return openStore(over: UnavailableEngine(reason: error))
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

  /// The container of fetching URLs over `store`.
  public func makeURLsDIContainer(_ store: OpenStore) -> URLsDIContainer {
    URLsDIContainer(
      store: store.entries, transfer: origins.makeTransfer(.standard), userAgent: origins.userAgent,
      services: services(store))
  }

  /// The current time, since 1970-01-01T00:00:00Z.
  public var now: Duration { clock.now.sinceEpoch }

  /// The container of the recent queries feature over `store`.
  public func makeMovieQueriesDIContainer(_ store: OpenStore) -> MovieQueriesDIContainer {
    MovieQueriesDIContainer(store: store.entries, maximumCount: configuration.maxQueries)
  }

  private func openEngine() async throws(StorageError) -> any StorageEngine {
    let plugin = try catalogue.plugin(named: configuration.backend)
    return try await plugin.open(engineConfiguration(for: plugin.declaration))
  }

  /// What the engine that declares `declaration` is opened with.
  func engineConfiguration(for declaration: EngineDeclaration) throws(StorageError) -> EngineConfiguration {
    let values = configuration.options(of: declaration.name)
    return try EngineConfiguration(for: declaration, values: values, clock: clock)
  }

  private func openStore(over engine: any StorageEngine) -> OpenStore {
    let entries = EntryStore(engine: engine, clock: clock)
    return OpenStore(
      entries: entries, flights: makeFlights(entries),
      ledger: FileUsageLedger(path: "\(configuration.home)/\(configuration.backend).usage"))
  }

  /// A store that no other process can use at the same time needs no leases.
  private func makeFlights(_ store: EntryStore) -> any FetchFlights {
    let plugin = try? catalogue.plugin(named: configuration.backend)
    guard let plugin, plugin.declaration.capabilities.contains(.shared) else { return LocalFlights() }
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
