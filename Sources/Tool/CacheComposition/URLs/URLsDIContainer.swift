internal import CacheData
public import CacheDomain
internal import HTTPTransfer
internal import ResponseStorage

/// Builds the feature that fetches URLs.
public struct URLsDIContainer: Sendable {
  private let context: ResourceContext
  private let demands: TransferDemands

  /// The container over what `context` has, with transfers as `demands` say.
  public init(_ context: ResourceContext, _ demands: TransferDemands = TransferDemands()) {
    (self.context, self.demands) = (context, demands)
  }

  /// Fetches any URL through the cache.
  public func makeFetchURLUseCase() -> FetchURLUseCase {
    FetchURLUseCase(repository: makeURLRepository())
  }

  private func makeURLRepository() -> any URLRepository {
    let maxEntryBytes = context.configuration.cache.maxEntryBytes
    let transport = Configuration.Transport.urls(
      maxEntryBytes: maxEntryBytes, network: context.configuration.network, demands)
    let files = NetworkFiles(transport.network, of: context.configuration)
    var services = context.services
    services.rules.isInsecure = demands.isInsecure
    let cache = HTTPCache(
      storage: EngineHTTPResponseStorage(store: context.store),
      transfer: files.problem.map { UnavailableTransfer(reason: $0) } ?? context.servers.makeTransfer(transport),
      services: services, name: "cachectl", maxContentBytes: maxEntryBytes)
    return DefaultURLRepository(
      source: demands.isCompressed ? DecodingResponseSource(cache, limit: maxEntryBytes) : cache,
      userAgent: context.servers.userAgent, clientIdentity: files.clientIdentity)
  }
}

extension AppDIContainer {
  /// The container for fetching URLs over `store`, with transfers as `demands` say.
  public func makeURLsDIContainer(
    _ store: OpenStore, _ demands: TransferDemands = TransferDemands()
  ) -> URLsDIContainer {
    URLsDIContainer(context(store), demands)
  }
}
