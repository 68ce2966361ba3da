public import CacheData
public import CacheDomain
internal import Foundation
public import ResponseStorage
public import StorageSPI

/// A response cache for `URLSession`, by the rules of HTTP (RFC 9111), in a store of any engine.
///
///     let cache = try await SessionCache(SQLitePlugin(), ["path": .text("/var/cache/my-app.sqlite")])
///     let session = URLSession(configuration: .default.cached(by: cache))
///
/// Everything else in the program stays as it is. Data tasks that GET or HEAD are answered from the cache where HTTP
/// allows it; uploads, downloads and other methods go to the server as before, and what they change there goes from the
/// cache. `URLRequest.cachePolicy` is obeyed, errors are `URLError`s, and cookies, credentials, time-outs and proxies are
/// the session's. A response says by its field `Cache-Status` (RFC 9211) how it came about.
///
/// Any number of sessions may use one cache. Two caches know nothing of each other.
///
/// What differs from a session without it:
/// - A delegate is not asked about redirections, which are followed, each cached by its own rules, but not from https
///   to http. It gets the content of a response in one piece, when all of it has come. Metrics and progress are about
///   the delivery.
/// - A response that is larger than `maxEntryBytes` is fetched a second time, past the cache, as soon as its size is
///   known: so it is streamed as without a cache.
/// - A response that takes an answer to an authentication challenge comes past the cache, and is not kept. Credentials
///   in the field `Authorization` or in the URL cause no challenge.
/// - `URLSession` undoes the coding of content (gzip and so on). What is kept has no coding, and its entity tag is weak.
/// - `Vary: User-Agent` does not tell programs with the same store apart, unless they set that field.
///
/// What is wrong with `URLSession` on Linux is wrong here: the process ends when a server sends fields after chunked
/// content (trailers) or cuts a header short, some valid responses are errors, a 401 that asks for the Basic scheme is
/// never delivered to a completion handler, fields that repeat are joined, and header order and reason phrases are lost.
public final class SessionCache: Sendable {
  let services: FetchServices
  let maxEntryBytes: Int
  let warn: @Sendable (CacheError) -> Void
  private let store: EntryStore

  /// How long responses are of use where their servers do not say: a tenth of the time since their last change, up to a
  /// day. Stale ones are not used without a server's permission.
  public static let usualFreshness = FreshnessPolicy(
    timeToLive: .seconds(86_400), staleIfError: .zero, staleWhileRevalidate: .zero)

  /// How much is kept: 100,000 responses and 1 GiB at most, the least recently used of which go first.
  public static let usualLimits = StoreLimits(
    maxEntries: 100_000, maxBytes: 1 << 30, eviction: .leastRecentlyUsed)

  /// Opens the store of the engine `plugin`, and creates it first where there is none.
  ///
  /// - Parameters:
  ///   - options: values for the options that the engine declares, such as `path`.
  ///   - limits: how much the store may hold.
  ///   - maxEntryBytes: how large a response may be to be kept. As much is held in memory for each task.
  ///   - freshness: what holds where a server says nothing.
  ///   - clock: the time by which responses are fresh or stale.
  ///   - warn: takes note of failures that do not keep a response from its task, such as a store that is full.
  /// - Throws: `CacheError` with the code of the engine's failure.
  public init(
    _ plugin: any StoragePlugin, _ options: [String: OptionValue] = [:], limits: StoreLimits = usualLimits,
    maxEntryBytes: Int = 16 << 20, freshness: FreshnessPolicy = usualFreshness, clock: any WallClock = DateClock(),
    warn: @escaping @Sendable (CacheError) -> Void = { _ in }
  ) async throws(CacheError) {
    do throws(StorageError) {
      let configuration = try EngineConfiguration(for: plugin.declaration, values: options, clock: clock)
      store = EntryStore(
        engine: try await plugin.open(configuration), clock: clock, limits: limits,
        removesExpired: !plugin.declaration.capabilities.contains(.nativeExpiry))
    } catch {
      throw CacheError(error)
    }
    self.maxEntryBytes = maxEntryBytes
    self.warn = warn
    services = FetchServices(
      rules: HTTPCacheRules(freshness: freshness), now: { .milliseconds(clock.now.milliseconds) })
  }

  /// Waits for responses that are brought up to date in the background, and closes the store. Sessions that use it
  /// afterwards go on without a cache, with a warning for each response.
  ///
  /// - Throws: `CacheError`: the engine could not be closed in order.
  public func close() async throws(CacheError) {
    for failure in await services.background.finish() { warn(failure) }
    try await store.close()
  }

  /// The cache in front of what `transfer` reaches.
  func responses(over transfer: any DataTransferService) -> HTTPCache {
    HTTPCache(
      storage: EngineHTTPResponseStorage(store: store), transfer: transfer, services: services,
      maxContentBytes: maxEntryBytes)
  }
}

/// The time of day by Foundation.
public struct DateClock: WallClock {
  /// The clock.
  public init() {}

  /// The current time.
  public var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
}
