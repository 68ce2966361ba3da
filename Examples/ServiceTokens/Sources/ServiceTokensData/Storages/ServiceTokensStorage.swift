public import FetchVocabulary
public import ServiceTokensDomain

/// Keeps service tokens, in a store that this protocol does not know.
public protocol ServiceTokensStorage: Sendable {
  /// Keeps `token`. Of two tokens of one name that are inserted at the same time, by two processes even, one is kept.
  ///
  /// - Throws: `CacheError`: `tokenExists` if there is one of that name, or the storage failed.
  func insert(_ token: ServiceToken) async throws(CacheError)

  /// The tokens that have not expired, in no particular order.
  ///
  /// - Throws: `CacheError`: the storage failed, or holds what it was not given (`damaged`).
  func tokens() async throws(CacheError) -> [ServiceToken]
}
