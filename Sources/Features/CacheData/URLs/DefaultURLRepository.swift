public import CacheDomain

/// Answers to requests for URLs from an HTTP cache.
public struct DefaultURLRepository: URLRepository {
  private let cache: HTTPCache
  private let userAgent: String
  private let clientIdentity: String?

  /// Creates a repository over `cache`. `userAgent` names the client to servers if a query does not; `clientIdentity`
  /// is a digest of the client's certificate.
  public init(cache: HTTPCache, userAgent: String, clientIdentity: String? = nil) {
    self.cache = cache
    self.userAgent = userAgent
    self.clientIdentity = clientIdentity
  }

  /// Fetches the answer to `query` as `options` say. Follows redirects; each response is cached on its own.
  public func answer(to query: URLQuery, options: FetchOptions) -> Snapshots<URLAnswer> {
    let snapshots = Snapshots.deferred { () throws(CacheError) in
      var request = try HTTPRequest(query)
      if !request.fields.contains("user-agent") { request.fields.append("User-Agent", userAgent) }
      request.clientIdentity = clientIdentity
      return cache.followedResponses(to: request, options: options, maxRedirects: query.maxRedirects)
    }
    return snapshots.mapValues { URLAnswer($0) }
  }
}

extension URLAnswer {
  fileprivate init(_ located: LocatedResponse) {
    let response = located.response
    self.init(
      located.url, response.head, body: response.body, rest: response.rest.map { ContentStream($0) },
      interim: response.interim.map { URLAnswer(located.url, $0) }, trailers: response.trailers.queryFields)
  }

  private init(
    _ url: String, _ head: HTTPResponseHead, body: [UInt8] = [], rest: ContentStream? = nil, interim: [URLAnswer] = [],
    trailers: [URLQuery.Field] = []
  ) {
    self.init(
      url: url, version: head.version?.rawValue, status: head.status, reason: head.reason,
      fields: head.fields.queryFields, body: body, rest: rest, interim: interim, trailers: trailers)
  }
}

extension HTTPFields {
  /// The lines as the domain represents them.
  fileprivate var queryFields: [URLQuery.Field] { lines.map { URLQuery.Field(name: $0.name, value: $0.value) } }
}

extension ContentStream {
  /// The content of `source`. If it breaks off, that is the origin's failure.
  fileprivate convenience init(_ source: StreamedContent) {
    self.init(length: source.length, trailers: { source.trailers.queryFields }) { () async throws(CacheError) in
      do {
        return try await source.next()
      } catch let error as CacheError {
        throw error
      } catch {
        throw CacheError(.originUnreachable, "the content broke off: \(error)", hint: "try again later")
      }
    }
  }
}
