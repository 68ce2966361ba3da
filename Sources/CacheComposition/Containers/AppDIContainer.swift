internal import CacheData
public import CacheDomain
internal import ResponseStorage
public import StorageSPI

/// Makes everything out of the configuration: the engine by its name, and the containers of the features over it.
///
/// It is the composition root: nothing outside this target knows which engine or which origin is in use.
public struct AppDIContainer: Sendable {
  /// The configuration that everything is made from.
  public let configuration: Configuration
  private let catalogue: PluginCatalogue
  private let clock: any WallClock
  private let observe: (@Sendable (FetchExplanation) -> Void)?

  /// The container for `configuration`, with the engines of `catalogue` and the time of `clock`. `observe` is told how
  /// each fetched value came about.
  public init(
    configuration: Configuration, catalogue: PluginCatalogue = .builtIn, clock: any WallClock = SystemWallClock(),
    observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    self.observe = observe
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
  /// - Throws: `CacheError` where the configured origin is not part of this version.
  public func makeCitiesDIContainer(_ store: OpenStore) throws(CacheError) -> CitiesDIContainer {
    CitiesDIContainer(
      store: store.entries, origin: try OriginFactory.makeCityOrigin(configuration.cities), services: services(store))
  }

  /// The container of the movies feature over `store`.
  ///
  /// - Throws: `CacheError` where the configured origin is not part of this version.
  public func makeMoviesDIContainer(_ store: OpenStore) throws(CacheError) -> MoviesDIContainer {
    MoviesDIContainer(
      store: store.entries, queries: makeMovieQueriesDIContainer(store),
      movieOrigin: try OriginFactory.makeMovieOrigin(configuration.movies),
      posterOrigin: try OriginFactory.makePosterOrigin(configuration.movies), services: services(store))
  }

  /// The current time, since 1970-01-01T00:00:00Z.
  public var now: Duration { clock.now.sinceEpoch }

  /// The container of the recent queries feature over `store`.
  public func makeMovieQueriesDIContainer(_ store: OpenStore) -> MovieQueriesDIContainer {
    MovieQueriesDIContainer(store: store.entries, maximumCount: configuration.maxQueries)
  }

  private func openEngine() async throws(StorageError) -> any StorageEngine {
    let plugin = try catalogue.plugin(named: configuration.backend)
    let values = configuration.options(of: configuration.backend)
    return try await plugin.open(EngineConfiguration(for: plugin.declaration, values: values, clock: clock))
  }

  private func openStore(over engine: any StorageEngine) -> OpenStore {
    OpenStore(
      entries: EntryStore(engine: engine, clock: clock),
      ledger: FileUsageLedger(path: "\(configuration.home)/\(configuration.backend).usage"))
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
