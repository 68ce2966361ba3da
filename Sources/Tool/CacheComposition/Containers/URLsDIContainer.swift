internal import CacheData
public import CacheDomain
internal import CacheNetwork
internal import ResponseStorage

/// Builds the feature that fetches URLs.
public struct URLsDIContainer: Sendable {
  let store: EntryStore
  let transfer: any DataTransferService
  let userAgent: String
  /// A digest of the client certificate; `nil` if there is none.
  let clientIdentity: String?
  let services: FetchServices
  let maxEntryBytes: Int
  /// Whether answers are decompressed after they leave the cache.
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
