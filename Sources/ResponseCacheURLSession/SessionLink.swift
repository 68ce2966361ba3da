internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// The way from a session to its cache. `URLSession` makes the instances of a protocol class itself, and gives them what
/// the `URLCache` of the configuration has for their request: this one has itself. So nothing global is needed, and each
/// session finds its own cache.
///
/// `@unchecked` because `URLCache` is not checked; what is added is constant.
final class SessionLink: URLCache, @unchecked Sendable {
  private static let key = "ResponseCacheURLSession"
  /// As many as `URLSession` follows.
  private static let maxRedirects = 20

  private let cache: SessionCache
  private let transfers: SessionTransfers
  private let cookies: SessionCookies
  private let policy: URLRequest.CachePolicy
  /// What the session adds to each request that lacks it.
  private let fields: HTTPFields
  private let protocolClasses: [AnyClass]

  /// The link to `cache` of a session that makes its transfers as `configuration` says.
  init(
    _ cache: SessionCache, transfers configuration: URLSessionConfiguration, cookies: SessionCookies,
    policy: URLRequest.CachePolicy
  ) {
    self.cache = cache
    self.cookies = cookies
    self.policy = policy
    protocolClasses = configuration.protocolClasses ?? []
    let added = (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
    fields = HTTPFields(added.sorted { $0.0 < $1.0 }.map { HTTPFields.Field($0.0, $0.1) })
    transfers = SessionTransfers(configuration, limit: cache.maxEntryBytes)
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
  }

  /// The link that came with a task; `nil` for tasks that have none, such as downloads.
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

  /// What becomes of a task that asks for `request` through the cache.
  func outcome(of request: URLRequest) async -> Load.Outcome {
    do throws(CacheError) {
      let (options, message) = (FetchOptions(policy(of: request)), try message(request))
      var snapshots = cache.responses(over: SessionTransfer(transfers, template: request))
        .followedResponses(
          to: message, options: options, maxRedirects: Self.maxRedirects, completing: cookies.completed
        ).makeAsyncIterator()
      guard let snapshot = try await snapshots.next() else { return .failure(URLError(.unknown)) }
      let response = snapshot.value.response
      // Nothing of it was delivered, so that it can be fetched anew.
      guard response.rest == nil else { return .plain }
      for warning in snapshot.warnings { cache.warn(warning) }
      guard let head = HTTPURLResponse(response.head, url: snapshot.value.url, of: request) else {
        return .failure(URLError(.badServerResponse))
      }
      return .response(head, Data(response.body))
    } catch {
      return .failure(URLError(error, url: request.url))
    }
  }

  /// Removes what `request`, which was sent past the cache and had the answer `response`, makes invalid.
  func invalidate(by response: HTTPResponseHead, to request: URLRequest) async {
    do throws(CacheError) {
      try await cache.responses(over: SessionTransfer(transfers, template: request))
        .invalidate(by: response, to: try message(request))
    } catch {
      cache.warn(error)
    }
  }

  private func policy(of request: URLRequest) -> URLRequest.CachePolicy {
    request.cachePolicy == .useProtocolCachePolicy ? policy : request.cachePolicy
  }

  private func message(_ request: URLRequest) throws(CacheError) -> HTTPRequest {
    var message = try HTTPRequest(request)
    for field in fields.lines where !message.fields.contains(field.name) {
      message.fields.append(field.name, field.value)
    }
    // What `URLSession` would add later, so that it selects among the stored responses.
    if !message.fields.contains("accept-language"), let language = Locale.current.language.languageCode?.identifier {
      message.fields.append("Accept-Language", language)
    }
    if policy(of: request).asksOrigin, !message.fields.contains("cache-control") {
      message.fields.append("Cache-Control", "no-cache")
    }
    return message
  }
}

extension URLRequest.CachePolicy {
  /// Whether caches on the way are to ask the origin.
  fileprivate var asksOrigin: Bool {
    self == .reloadIgnoringLocalAndRemoteCacheData || self == .reloadRevalidatingCacheData
  }
}

extension FetchOptions {
  /// What a policy of `URLSession` means. What a server forbids to use stale is revalidated also where the policy takes
  /// anything.
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
