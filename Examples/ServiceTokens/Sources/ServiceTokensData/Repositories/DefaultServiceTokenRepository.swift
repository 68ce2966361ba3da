public import FetchVocabulary
public import ServiceTokensDomain

/// Service tokens from a storage.
public struct DefaultServiceTokenRepository: ServiceTokenRepository {
  private let storage: any ServiceTokensStorage

  /// The repository over `storage`.
  public init(storage: any ServiceTokensStorage) {
    self.storage = storage
  }

  /// Adds a token.
  public func insert(_ token: ServiceToken) async throws(CacheError) {
    try await storage.insert(token)
  }

  /// All tokens that have not expired, by name.
  public func tokens() async throws(CacheError) -> [ServiceToken] {
    try await storage.tokens().sorted { $0.name < $1.name }
  }
}
