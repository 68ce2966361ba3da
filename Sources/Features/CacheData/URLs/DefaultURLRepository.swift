public import CacheDomain

/// Answers to requests for URLs from an HTTP cache.
public struct DefaultURLRepository: URLRepository {
  private let source: any HTTPResponseSource
  private let userAgent: String
  private let clientIdentity: String?

  /// Creates a repository over `source`, such as an `HTTPCache`. `userAgent` names the client to servers if a query does
  /// not; `clientIdentity` is a digest of the client's certificate.
  public init(source: any HTTPResponseSource, userAgent: String, clientIdentity: String? = nil) {
    self.source = source
    self.userAgent = userAgent
    self.clientIdentity = clientIdentity
  }

  /// Fetches the answer to `query` as `options` say. Follows redirects; each response is cached on its own.
  public func answer(to query: URLQuery, options: FetchOptions) -> Snapshots<URLAnswer> {
    let snapshots = Snapshots.deferred { () throws(CacheError) in
      var request = try HTTPRequest(query)
      if !request.fields.contains("user-agent") { request.fields.append("User-Agent", userAgent) }
      request.clientIdentity = clientIdentity
      return source.followedResponses(to: request, options: options, maxRedirects: query.maxRedirects)
    }
    return snapshots.mapValues { URLAnswer($0) }
  }
}

extension URLAnswer {
  fileprivate init(_ located: LocatedResponse) {
    let response = located.response
    self.init(
      located.url, response.head, body: response.body, rest: response.rest,
      interim: response.interim.map { URLAnswer(located.url, $0) }, trailers: response.trailers)
  }

  private init(
    _ url: String, _ head: HTTPResponseHead, body: [UInt8] = [], rest: StreamedContent? = nil,
    interim: [URLAnswer] = [], trailers: HTTPFields = [:]
  ) {
    self.init(
      url: url, version: head.version?.rawValue, status: head.status, reason: head.reason, fields: head.fields,
      body: body, rest: rest, interim: interim, trailers: trailers)
  }
}
