internal import CacheBase
public import CacheCore

/// Responses to requests for URLs from an HTTP cache.
///
/// A URL is not an entity of the domain, and a response is stored and shown unchanged: nothing is mapped.
public struct URLRepository: Sendable {
  private let source: any HTTPResponseSource
  private let userAgent: String
  private let clientIdentity: String?

  /// Creates a repository over `source`, such as an `HTTPCache`. `userAgent` names the client to servers if a request does
  /// not; `clientIdentity` is a digest of the client's certificate.
  public init(source: any HTTPResponseSource, userAgent: String, clientIdentity: String? = nil) {
    self.source = source
    self.userAgent = userAgent
    self.clientIdentity = clientIdentity
  }

  /// Fetches the response to `request`, which a person wrote, as `options` say. Follows redirects; each response is
  /// cached on its own.
  ///
  /// - Parameters:
  ///   - maxRedirects: how many redirects to follow, 0 or more; with 0, a redirect is a response like any other.
  ///   - unwantedFields: the names, in lower case, of the fields that are not to be added by default.
  public func response(
    to request: HTTP.Request, maxRedirects: Int, unwantedFields: Set<String>, options: FetchOptions
  ) -> Snapshots<LocatedResponse> {
    Snapshots.deferred { () throws(CacheError) in
      var request = try request.checked(unwantedFields: unwantedFields)
      request.fields.add("User-Agent", userAgent, unless: unwantedFields)
      request.clientIdentity = clientIdentity
      return source.followedResponses(to: request, options: options, maxRedirects: maxRedirects)
    }
  }
}

extension HTTP.Request {
  /// This request, which a person wrote, with its URL in the form of `normalizedURL`. Credentials before an `@` are sent
  /// in a field (RFC 7617).
  ///
  /// - Throws: `CacheError` with the code `invalidRequest`, and a message that says what is wrong.
  func checked(unwantedFields: Set<String> = []) throws(CacheError) -> HTTP.Request {
    guard HTTPSyntax.isToken(method) else {
      throw CacheError(.invalidRequest, "'\(method)' is not a valid method", hint: "use one such as GET or POST")
    }
    guard method != "HEAD" || !hasContent else {
      throw CacheError(
        .invalidRequest, "a HEAD has no content", hint: "leave it out, or send it with another method such as POST")
    }
    var request = self
    request.fields = HTTP.Fields(try fields.lines.map { field throws(CacheError) in try Self.field(field) })
    if let credentials = Self.credentials(url) {
      request.fields.add("Authorization", credentials, unless: unwantedFields)
    }
    request.url = try Self.normalizedURL(url, keepingDots: keepsDotSegments)
    return request
  }

  private static func credentials(_ url: String) -> String? {
    guard let parts = URLReference(url)?.userInfo?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    else { return nil }
    let login =
      PercentEncoding.decoded(parts[0]) + [UInt8(ascii: ":")] + PercentEncoding.decoded(parts.dropFirst().first ?? "")
    return "Basic \(String(decoding: Base64.encoded(login), as: UTF8.self))"
  }

  private static func field(_ field: HTTP.Fields.Field) throws(CacheError) -> HTTP.Fields.Field {
    guard HTTPSyntax.isToken(field.name) else {
      throw CacheError(
        .invalidRequest, "the name of a header field is not valid", hint: "write the field as 'Name: value'")
    }
    guard HTTPSyntax.isFieldValue(field.value) else {
      throw CacheError(
        .invalidRequest, "the header field \(field.name) has control characters", hint: "write it in one line")
    }
    return HTTP.Fields.Field(field.name, String(FieldList.trimmed(field.value[...])))
  }
}

extension HTTP.Fields {
  /// Adds a field that is not there, unless it is one of `unwanted`.
  fileprivate mutating func add(_ name: String, _ value: String, unless unwanted: Set<String>) {
    guard !contains(name), !unwanted.contains(name.lowercased()) else { return }
    append(name, value)
  }
}
