internal import Base
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
      request.fields.add("User-Agent", userAgent, for: query)
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

extension HTTPRequest {
  /// Creates the request that `query` describes, with its URL in the form of `normalizedURL`. Credentials before an `@`
  /// are sent in a field (RFC 7617).
  ///
  /// - Throws: `CacheError` with the code `invalidRequest`, and a message that says what is wrong.
  init(_ query: URLQuery) throws(CacheError) {
    guard HTTPSyntax.isToken(query.method) else {
      throw CacheError(.invalidRequest, "'\(query.method)' is no method", hint: "use one such as GET or POST")
    }
    // RFC 9110, section 9.3.1: the content would have no meaning. The entry stored under the URL would answer anyway.
    let hasContent = !query.body.isEmpty || query.stream != nil
    guard !hasContent || !Self.retrieves(query.method) else {
      throw CacheError(
        .invalidRequest, "a \(query.method) has no content",
        hint: "leave it out, or send it with another method such as POST")
    }
    var fields = HTTPFields(try query.fields.lines.map { field throws(CacheError) in try Self.field(field) })
    if let credentials = Self.credentials(query.url) { fields.add("Authorization", credentials, for: query) }
    if hasContent { fields.add("Content-Type", "application/x-www-form-urlencoded", for: query) }
    self.init(
      method: query.method, url: try Self.normalizedURL(query.url, keepingDots: query.keepsDotSegments),
      fields: fields, body: query.body, stream: query.stream)
    secretFields = query.secretFields
    keepsDotSegments = query.keepsDotSegments
  }

  private static func credentials(_ url: String) -> String? {
    guard let parts = URLReference(url)?.userInfo?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    else { return nil }
    let login =
      PercentEncoding.decoded(parts[0]) + [UInt8(ascii: ":")] + PercentEncoding.decoded(parts.dropFirst().first ?? "")
    return "Basic \(String(decoding: Base64.encoded(login), as: UTF8.self))"
  }

  private static func field(_ field: HTTPFields.Field) throws(CacheError) -> HTTPFields.Field {
    guard HTTPSyntax.isToken(field.name), HTTPSyntax.isFieldValue(field.value) else {
      throw CacheError(.invalidRequest, "a header field is malformed", hint: "write it as 'Name: value'")
    }
    return HTTPFields.Field(field.name, String(FieldList.trimmed(field.value[...])))
  }
}

extension HTTPFields {
  /// Adds a field that `query` neither has nor declines.
  fileprivate mutating func add(_ name: String, _ value: String, for query: URLQuery) {
    guard !contains(name), !query.unwantedFields.contains(name.lowercased()) else { return }
    append(name, value)
  }
}
