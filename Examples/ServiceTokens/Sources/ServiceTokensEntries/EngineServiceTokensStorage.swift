public import FetchVocabulary
public import CacheCore
public import ServiceTokensData
public import ServiceTokensDomain
internal import EngineAPI

/// Keeps each token as an entry of an engine, whichever it is, until it expires.
public struct EngineServiceTokensStorage: ServiceTokensStorage {
  private let store: EntryStore
  private let codec = PayloadCodec<ServiceTokenPayload>.json

  /// The storage over `store`.
  public init(store: EntryStore) {
    self.store = store
  }

  /// Keeps `token`, if there is none of its name or one that has expired.
  ///
  /// The entry is written on condition that it is still as it was read: no other process's token is overwritten.
  public func insert(_ token: ServiceToken) async throws(CacheError) {
    let key = try CacheKey(for: ServiceTokenRequest(name: token.name))
    try await store.update(key, codec) { current throws(CacheError) in
      guard current == nil else {
        throw CacheError(
          .tokenExists, "there is a token '\(token.name)' already",
          hint: "choose another name, or remove it with: cachectl rm \(key)")
      }
      let end = token.expiresAt.map { Timestamp(milliseconds: 0).advanced(by: $0) }
      let payload = ServiceTokenPayload(name: token.name, value: token.value.reveal())
      return (payload, retainUntil: end ?? .distantFuture)
    }
  }

  /// The tokens that have not expired. Cost: a scan of their keys, and a read for each.
  public func tokens() async throws(CacheError) -> [ServiceToken] {
    var tokens: [ServiceToken] = []
    for key in try await store.keys(prefix: CacheKey.prefix(of: ServiceTokenRequest.self)) {
      // One that is gone by now was removed, or has expired.
      guard let (payload, metadata) = try await store.read(key, codec) else { continue }
      let end = metadata.retainUntil == .distantFuture ? nil : metadata.retainUntil.sinceEpoch
      tokens.append(
        try ServiceToken(name: payload.name, value: try TokenValue(payload.value), expiresAt: end))
    }
    return tokens
  }
}
