internal import CacheData
public import CacheDomain
internal import ResponseStorage

/// Makes what fetching URLs needs.
public struct URLsDIContainer: Sendable {
  let store: EntryStore
  let transfer: any DataTransferService
  let userAgent: String
  let services: FetchServices
  let maxEntryBytes: Int

  /// Fetches any URL through the cache.
  public func makeFetchURLUseCase() -> FetchURLUseCase {
    FetchURLUseCase(repository: makeURLRepository())
  }

  private func makeURLRepository() -> any URLRepository {
    let storage = EngineHTTPResponseStorage(store: store)
    return DefaultURLRepository(
      cache: HTTPCache(
        storage: storage, transfer: transfer, services: services, maxContentBytes: maxEntryBytes),
      userAgent: userAgent)
  }
}
