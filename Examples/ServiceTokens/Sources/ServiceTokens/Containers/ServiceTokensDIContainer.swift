public import CachectlTool
internal import CacheCore
internal import ServiceTokensData
public import ServiceTokensDomain
internal import ServiceTokensEntries

/// Makes what the service tokens feature needs, over a store that is open. Which engine it is, is not known here.
public struct ServiceTokensDIContainer: Sendable {
  private let store: OpenStore

  /// The container over `store`, which the caller closes.
  public init(store: OpenStore) {
    self.store = store
  }

  /// Adds a token.
  public func makeInsertServiceTokenUseCase() -> InsertServiceTokenUseCase {
    InsertServiceTokenUseCase(repository: makeServiceTokenRepository())
  }

  /// Shows which tokens there are.
  public func makeListServiceTokensUseCase() -> ListServiceTokensUseCase {
    ListServiceTokensUseCase(repository: makeServiceTokenRepository())
  }

  private func makeServiceTokenRepository() -> any ServiceTokenRepository {
    DefaultServiceTokenRepository(storage: EngineServiceTokensStorage(store: store.entries))
  }
}
