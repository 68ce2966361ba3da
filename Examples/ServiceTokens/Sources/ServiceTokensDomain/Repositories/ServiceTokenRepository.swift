public import FetchVocabulary

/// Keeps the tokens that services are asked with.
public protocol ServiceTokenRepository: Sendable {
  /// Adds a token.
  ///
  /// - Throws: `CacheError`: `tokenExists` where there is one of that name, or it cannot be kept.
  func insert(_ token: ServiceToken) async throws(CacheError)

  /// All tokens that have not expired, by name.
  func tokens() async throws(CacheError) -> [ServiceToken]
}
