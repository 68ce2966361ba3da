public import FetchVocabulary

/// Shows which tokens there are.
public struct ListServiceTokensUseCase: Sendable {
  private let repository: any ServiceTokenRepository

  /// The use case over `repository`.
  public init(repository: any ServiceTokenRepository) {
    self.repository = repository
  }

  /// All tokens that have not expired, by name.
  public func execute() async throws(CacheError) -> [ServiceToken] {
    try await repository.tokens()
  }
}
