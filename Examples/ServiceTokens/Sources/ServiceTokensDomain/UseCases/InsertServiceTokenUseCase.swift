public import FetchVocabulary

/// Adds a token.
public struct InsertServiceTokenUseCase: Sendable {
  private let repository: any ServiceTokenRepository

  /// The use case over `repository`.
  public init(repository: any ServiceTokenRepository) {
    self.repository = repository
  }

  /// Adds `token`.
  ///
  /// - Throws: `CacheError`: `tokenExists` if there is one of that name, or the error that kept it from being stored.
  public func execute(_ token: ServiceToken) async throws(CacheError) {
    try await repository.insert(token)
  }
}
