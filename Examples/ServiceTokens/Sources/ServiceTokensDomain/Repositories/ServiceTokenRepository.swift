public import FetchVocabulary

/// Keeps the tokens for requests to services.
public protocol ServiceTokenRepository: Sendable {
  /// Adds a token.
  ///
  /// - Throws: `CacheError`: `tokenExists` if there is one of that name, or the error that kept it from being stored.
  func insert(_ token: ServiceToken) async throws(CacheError)

  /// All tokens that have not expired, by name.
  func tokens() async throws(CacheError) -> [ServiceToken]
}
