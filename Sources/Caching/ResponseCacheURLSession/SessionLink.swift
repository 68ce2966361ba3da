internal import CacheCore
internal import FetchVocabulary
internal import Foundation
internal import ResponseCache

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Leads from a session to its cache. `URLSession` creates the instances of a protocol class itself, and passes them
/// what the configuration's `URLCache` has for their request: this one returns itself. So nothing is global, and each
/// session finds its own cache.
///
/// `@unchecked` because `URLCache` is not checked; the properties added here are constant.
final class SessionLink: URLCache, @unchecked Sendable {
  private static let key = "ResponseCacheURLSession"
  /// The number that `URLSession` follows.
  private static let maxRedirects = 20

  /// How long responses might be used if their servers do not say: a tenth of the time since their last change, up to a
  /// day. Stale responses are used only if the server allows it.
  private static let freshness = FreshnessPolicy(
    timeToLive: .seconds(86_400), staleIfError: .zero, staleWhileRevalidate: .zero)

  private let cache: Cache
  private let services: FetchServices
  private let maxEntryBytes: Int
  private let transfers: SessionTransfers
  /// The cookies that the session sends; `nil` if it sends none.
  private let cookies: HTTPCookieStorage?
  private let policy: URLRequest.CachePolicy
  /// Fields that the session adds to each request without them.
  private let fields: HTTP.Fields
  private let protocolClasses: [AnyClass]

  /// Creates the link to `cache` for a session with the settings of `session`, whose transfers use `configuration`.
  init(
    _ cache: Cache, maxEntryBytes: Int, session: URLSessionConfiguration,
    transfers configuration: URLSessionConfiguration
  ) {
    self.cache = cache
    var services = cache.services
    services.rules.freshness = Self.freshness
    self.services = services
    self.maxEntryBytes = maxEntryBytes
    cookies = session.httpShouldSetCookies ? session.httpCookieStorage : nil
    policy = session.requestCachePolicy
    protocolClasses = configuration.protocolClasses ?? []
    let added = (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
    fields = HTTP.Fields(added.sorted { $0.0 < $1.0 }.map { HTTP.Fields.Field($0.0, $0.1) })
    transfers = SessionTransfers(configuration, limit: maxEntryBytes)
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
  }

  /// The link that came with a task; `nil` for tasks without one, such as downloads.
  static func link(in response: CachedURLResponse?) -> SessionLink? { response?.userInfo?[key] as? SessionLink }

  override func getCachedResponse(
    for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    let url = dataTask.originalRequest?.url ?? URL(fileURLWithPath: "/")
    let empty = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
    completionHandler(
      CachedURLResponse(response: empty, data: Data(), userInfo: [Self.key: self], storagePolicy: .notAllowed))
  }

  override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {}

  override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {}

  /// The class that would load `request` without a cache.
  static func plainClass(for request: URLRequest, _ link: SessionLink?) -> URLProtocol.Type? {
    let classes = link?.protocolClasses ?? URLSessionConfiguration.default.protocolClasses ?? []
    return classes.lazy.compactMap { $0 as? URLProtocol.Type }.first { $0.canInit(with: request) }
  }

  /// Fetches `request` through the cache, and returns the outcome for its task.
  func outcome(of request: URLRequest) async -> Load.Outcome {
    let call = cache.observer(of: URLResponses.namespace)?.begin()
    do throws(CacheError) {
      let (options, message) = (FetchOptions(policy(of: request)), try message(request))
      var snapshots = responses(for: request).followedResponses(
        to: message, options: options, maxRedirects: Self.maxRedirects, completing: withCookies
      ).makeAsyncIterator()
      guard let snapshot = try await snapshots.next() else { return .failure(URLError(.unknown)) }
      let response = snapshot.value.response
      // Nothing has been delivered yet, so the task can fetch it again: a response that is too large, or that another
      // user of the cache stored with its content coding, which `URLSession` would have undone.
      guard response.rest == nil, !response.head.fields.contains("content-encoding") else { return .plain }
      call?.end(snapshot)
      for warning in snapshot.takeWarnings() { cache.warn(warning) }
      guard let head = HTTPURLResponse(response.head, url: snapshot.value.url, of: request) else {
        return .failure(URLError(.badServerResponse))
      }
      return .response(head, Data(response.body))
    } catch {
      call?.end(error)
      return .failure(URLError(error, url: request.url))
    }
  }

  /// Removes what `request`, which bypassed the cache and got the response `response`, invalidated.
  func invalidate(by response: HTTP.ResponseHead, to request: URLRequest) async {
    do throws(CacheError) {
      try await responses(for: request).invalidate(by: response, to: try message(request))
    } catch {
      cache.warn(CacheWarning(.storing, error, key: error.key))
    }
  }

  /// The cache in front of the servers, which get requests like `request`.
  private func responses(for request: URLRequest) -> HTTPCache {
    HTTPCache(
      responses: URLResponses(store: cache.store), transfer: SessionTransfer(transfers, template: request),
      services: services, maxContentBytes: maxEntryBytes)
  }

  private func policy(of request: URLRequest) -> URLRequest.CachePolicy {
    request.cachePolicy == .useProtocolCachePolicy ? policy : request.cachePolicy
  }

  private func message(_ request: URLRequest) throws(CacheError) -> HTTP.Request {
    var message = try HTTP.Request(request)
    for field in fields.lines where !message.fields.contains(field.name) {
      message.fields.append(field.name, field.value)
    }
    // `URLSession` would add this field later; it must be there to select among the stored responses.
    if !message.fields.contains("accept-language"), let language = Locale.current.language.languageCode?.identifier {
      message.fields.append("Accept-Language", language)
    }
    // Caches on the way must ask the origin, too.
    if [.reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData].contains(policy(of: request)),
      !message.fields.contains("cache-control")
    {
      message.fields.append("Cache-Control", "no-cache")
    }
    return message
  }

  /// `request` with its cookies replaced by the stored ones for its URL, if there are any.
  private func withCookies(_ request: HTTP.Request) -> HTTP.Request {
    let stored = URL(string: request.url).flatMap { cookies?.cookies(for: $0) } ?? []
    guard !stored.isEmpty else { return request }
    var request = request
    request.fields["Cookie"] = HTTPCookie.requestHeaderFields(with: stored)["Cookie"]
    return request
  }
}

extension FetchOptions {
  /// The options for a policy of `URLSession`. A response that must not be used stale is revalidated even if the policy
  /// accepts any response.
  fileprivate init(_ policy: URLRequest.CachePolicy) {
    switch policy {
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self.init(policy: .networkOnly)
    case .returnCacheDataElseLoad: self.init(maxStale: .seconds(Int64(1) << 40))
    case .returnCacheDataDontLoad: self.init(policy: .cacheOnly)
    case .useProtocolCachePolicy, .reloadRevalidatingCacheData: self.init()
    @unknown default: self.init()
    }
  }
}
