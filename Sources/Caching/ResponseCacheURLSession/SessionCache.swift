public import CachedFetching
public import ResponseStorage
public import StorageSPI

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// A response cache for `URLSession`, by the rules of HTTP (RFC 9111), in a store of any engine.
///
///     let cache = try await SessionCache(location)
///     let session = URLSession(configuration: .default.cached(by: cache))
///
/// Nothing else in the program changes. GET and HEAD data tasks are answered from the cache where HTTP allows it.
/// Uploads, downloads and other methods go to the server as before, and what they change there is removed from the
/// cache. `URLRequest.cachePolicy` is obeyed, errors are `URLError`s, and cookies, credentials, time-outs and proxies
/// are the session's. The `Cache-Status` field (RFC 9211) of a response says where it came from.
///
/// Any number of sessions may share a cache. Two caches know nothing of each other.
///
/// Differences from a session without the cache:
/// - A delegate is not asked about redirects: they are followed, each cached by its own rules, but not from https to
///   http. It gets the content of a response in one piece, once all of it has arrived. Metrics and progress describe
///   the delivery.
/// - A response that is larger than `maxEntryBytes` is fetched a second time without the cache, as soon as its size is
///   known, and so is streamed as usual.
/// - A response that requires an authentication challenge to be answered bypasses the cache, and is not kept.
///   Credentials in the `Authorization` field or in the URL cause no challenge.
/// - `URLSession` undoes content codings (gzip and so on). The cache keeps the content without a coding, with a weak
///   entity tag.
/// - `Vary: User-Agent` does not distinguish programs that share a store, unless they set that field.
///
/// Defects of `URLSession` on Linux remain: the process ends if a server sends fields after chunked content (trailers)
/// or cuts a header short, some valid responses are errors, a 401 that asks for Basic authentication never reaches a
/// completion handler, repeated fields are joined, and header order and reason phrases are lost.
public final class SessionCache: Sendable {
  let services: FetchServices
  let maxEntryBytes: Int
  let warn: @Sendable (CacheError) -> Void
  private let store: EntryStore

  /// How long responses may be used if their servers do not say: a tenth of the time since their last change, up to a
  /// day. Stale responses are used only if the server allows it.
  public static let usualFreshness = FreshnessPolicy(
    timeToLive: .seconds(86_400), staleIfError: .zero, staleWhileRevalidate: .zero)

  /// Opens the store at `location`, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - location: the engine and where its store is, in the short form that the engine's module has.
  ///   - limits: how much the store may hold.
  ///   - maxEntryBytes: the largest response to keep. Each task may hold this much in memory.
  ///   - freshness: applies if a server says nothing.
  ///   - clock: decides whether responses are fresh or stale.
  ///   - warn: called with failures that do not affect a task's response, such as a full store.
  /// - Throws: `CacheError` with the code of the engine's failure; `invalidOption` if the limits allow no entry.
  public init(
    _ location: StorageLocation, limits: StoreLimits = .standard,
    maxEntryBytes: Int = 16 << 20, freshness: FreshnessPolicy = usualFreshness,
    clock: any WallClock = SystemWallClock(),
    warn: @escaping @Sendable (CacheError) -> Void = { _ in }
  ) async throws(CacheError) {
    try limits.requireRoom()
    store = EntryStore(
      engine: try await location.open(clock: clock), clock: clock, limits: limits,
      removesExpired: !location.plugin.declaration.capabilities.contains(.nativeExpiry))
    self.maxEntryBytes = maxEntryBytes
    self.warn = warn
    services = FetchServices(
      rules: HTTPCacheRules(freshness: freshness), now: { .milliseconds(clock.now.milliseconds) },
      background: BackgroundWork(warn: warn))
  }

  /// Waits for revalidations in the background, and closes the store. Sessions that use the cache afterwards work
  /// without it, with a warning for each response.
  ///
  /// - Parameter patience: how long to wait. Revalidations that take longer are cancelled, and store nothing.
  /// - Throws: `CacheError`: the engine could not be closed properly.
  public func close(waitingFor patience: Duration = .seconds(10)) async throws(CacheError) {
    await services.background.finish(within: patience)
    try await store.close()
  }

  /// The cache in front of the servers that `transfer` reaches.
  func responses(over transfer: any DataTransferService) -> HTTPCache {
    HTTPCache(
      storage: EngineHTTPResponseStorage(store: store), transfer: transfer, services: services,
      maxContentBytes: maxEntryBytes)
  }
}

extension URLSessionConfiguration {
  /// Returns a copy of this configuration with `cache` instead of its `urlCache`, for a session whose responses are
  /// cached.
  ///
  /// Call it last: later changes to the result do not affect the cache's own transfers.
  public func cached(by cache: SessionCache) -> URLSessionConfiguration {
    let (outer, inner) = (duplicate, duplicate)
    let others = (protocolClasses ?? []).filter { $0 != CachingProtocol.self }
    inner.protocolClasses = others
    // The requests already have them, so that the rules can select responses by the cookies that are sent.
    inner.httpShouldSetCookies = false
    outer.protocolClasses = [CachingProtocol.self] + others
    outer.urlCache = SessionLink(
      cache, transfers: inner, cookies: SessionCookies(outer), policy: requestCachePolicy)
    return outer
  }

  private var duplicate: URLSessionConfiguration { copy() as? URLSessionConfiguration ?? self }
}
