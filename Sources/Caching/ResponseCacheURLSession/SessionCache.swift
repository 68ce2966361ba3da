internal import CacheCore
internal import FetchVocabulary
internal import HTTPCaching
internal import ResponseCache

/// A cache as the tasks of a session use it.
struct SessionCache: Sendable {
  /// How long responses may be used if their servers do not say: a tenth of the time since their last change, up to a
  /// day. Stale responses are used only if the server allows it.
  private static let freshness = FreshnessPolicy(
    timeToLive: .seconds(86_400), staleIfError: .zero, staleWhileRevalidate: .zero)

  let maxEntryBytes: Int
  let warn: @Sendable (CacheError) -> Void
  private let responses: URLResponses
  private let services: FetchServices

  init(_ cache: Cache, maxEntryBytes: Int) {
    self.maxEntryBytes = maxEntryBytes
    warn = cache.warn
    responses = URLResponses(store: cache.store)
    var services = cache.services
    let key = services.rules.credentialKey
    services.rules = HTTPCacheRules(isShared: services.rules.isShared, freshness: Self.freshness)
    services.rules.credentialKey = key
    self.services = services
  }

  /// The cache in front of the servers that `transfer` reaches.
  func responses(over transfer: any DataTransferService) -> HTTPCache {
    HTTPCache(responses: responses, transfer: transfer, services: services, maxContentBytes: maxEntryBytes)
  }
}
