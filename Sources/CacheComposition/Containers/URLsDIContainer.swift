internal import CacheData
public import CacheDomain
internal import CacheNetwork
internal import ResponseStorage

/// Makes what fetching URLs needs.
public struct URLsDIContainer: Sendable {
  let store: EntryStore
  let transfer: any DataTransferService
  let userAgent: String
  /// A digest of the client's certificate; `nil` where there is none.
  let clientIdentity: String?
  let services: FetchServices
  let maxEntryBytes: Int
  /// Whether compression is undone behind the cache.
  let isDecoding: Bool

  /// Fetches any URL through the cache.
  public func makeFetchURLUseCase() -> FetchURLUseCase {
    FetchURLUseCase(repository: makeURLRepository())
  }

  private func makeURLRepository() -> any URLRepository {
    let storage = EngineHTTPResponseStorage(store: store)
    let repository = DefaultURLRepository(
      cache: HTTPCache(
        storage: storage, transfer: transfer, services: services, maxContentBytes: maxEntryBytes),
      userAgent: userAgent, clientIdentity: clientIdentity)
    return isDecoding ? DecodingURLRepository(repository, limit: maxEntryBytes) : repository
  }
}
