internal import CacheBase

/// The server that an origin asks: its address, what every request carries, and the service that sends requests.
public struct OriginServer: Sendable {
  /// How many redirects in a row a request follows.
  private static let maxRedirects = 5

  /// The server's address.
  public let baseURL: BaseURL
  private let fields: HTTP.Fields
  private let secretFields: HTTP.Fields
  private let credentials: OriginCredentials
  private let clientIdentity: String?
  private let transfer: any DataTransferService
  let secrets: SecretTexts

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - fields: header fields for every request. They replace the origin's own.
  ///   - secretFields: further header fields, whose values are never shown.
  ///   - clientIdentity: a digest of the client's certificate; `nil` if it has none.
  public init(
    _ baseURL: BaseURL, fields: HTTP.Fields = [:], secretFields: HTTP.Fields = [:],
    credentials: OriginCredentials = .none, clientIdentity: String? = nil, transfer: any DataTransferService
  ) {
    self.baseURL = baseURL
    self.fields = fields
    self.secretFields = secretFields
    self.credentials = credentials
    self.clientIdentity = clientIdentity
    self.transfer = transfer
    secrets = SecretTexts([secretFields, credentials.fields, credentials.parameters].flatMap { $0.lines.map(\.value) })
  }

  /// The request for `endpoint` as the caching rules examine it: with all that tells clients apart, but without a key in
  /// its URL.
  func message(for endpoint: Endpoint) -> HTTP.Request {
    var request = endpoint.request
    request.clientIdentity = clientIdentity
    request.fields = request.fields.replacing(with: credentials.fields).replacing(with: fields).replacing(
      with: secretFields)
    request.secretFields = Set(secretFields.lines.map(\.name))
    request.secretParameters = credentials.parameters
    return request
  }

  /// The request for `endpoint` as it is sent.
  func httpRequest(for endpoint: Endpoint) -> HTTP.Request {
    var request = message(for: endpoint)
    request.url = Endpoint.url(request.url, adding: credentials.parameters.lines.map { ($0.name, $0.value) })
    return request
  }

  /// Sends the request for `endpoint`, with `conditions` added, and returns the response, whatever its status. Follows
  /// redirects if that is safe.
  ///
  /// - Throws: `CacheError`: what the transfer throws, without secrets; `invalidAnswer` after too many redirects.
  func send(
    _ endpoint: Endpoint, conditions: HTTP.Fields, origin: String
  ) async throws(CacheError) -> HTTP.Response {
    var request = httpRequest(for: endpoint)
    request.fields = request.fields.replacing(with: conditions)
    for _ in 0...Self.maxRedirects {
      let response: HTTP.Response
      do throws(CacheError) {
        response = try await transfer.transfer(request).gathered(limit: .max, for: request)
      } catch {
        // The part that arrived is of no use here.
        let isIncomplete = error.cause is IncompleteResponse
        let reason = isIncomplete ? CacheError(error.code, error.message, hint: error.hint) : error
        throw secrets.withheld(from: reason, origin: origin)
      }
      guard let next = try request.redirected(by: response.head) else { return response }
      request = next
    }
    throw .invalidAnswer(origin, "more than \(Self.maxRedirects) redirects for \(endpoint.subject)")
  }
}

extension OriginServer: CustomReflectable {
  /// Shows the address alone: the rest has secrets.
  public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}

/// The credentials that a server wants. The secrets in them are sent, but never shown.
public struct OriginCredentials: Sendable, CustomReflectable {
  /// The header fields that carry the credentials.
  let fields: HTTP.Fields
  /// The query parameters that carry the credentials.
  let parameters: HTTP.Fields

  /// No credentials.
  public static let none = OriginCredentials(fields: [:], parameters: [:])

  /// A key in a query parameter.
  public static func queryParameter(name: String, value: String) -> OriginCredentials {
    OriginCredentials(fields: [:], parameters: HTTP.Fields([HTTP.Fields.Field(name, value)]))
  }

  /// A token in the `Authorization` field (RFC 6750, section 2.1).
  public static func bearerToken(_ token: String) -> OriginCredentials {
    OriginCredentials(fields: ["Authorization": "Bearer \(token)"], parameters: [:])
  }

  /// Hides the secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secrets sent to a server, to make sure that no text passed on contains one.
struct SecretTexts: Sendable {
  /// Each secret in lower case, both as it is and percent-encoded.
  private let texts: Set<String>

  /// Collects secrets. In a field such as `Bearer TOKEN`, the token alone is a secret too.
  init(_ secrets: [String]) {
    let parts = secrets.flatMap { [$0] + $0.split(separator: " ").dropFirst().map(String.init) }
    texts = Set(
      parts.flatMap { [$0, PercentEncoding.text($0)] }.filter { !$0.isEmpty }.map { $0.lowercased() })
  }

  /// Whether there are no secrets.
  var isEmpty: Bool { texts.isEmpty }

  /// Whether `text` contains a secret.
  func occur(in text: String) -> Bool {
    let text = text.lowercased()
    return texts.contains { text.holds($0) }
  }

  /// `error`, or what can be said of it if its texts or its cause contain a secret.
  func withheld(from error: CacheError, origin: String) -> CacheError {
    if occur(in: "\(error.message)\n\(error.hint)") {
      return CacheError(
        error.code, "the request to \(origin) failed", hint: "the reason is not shown, because it holds a secret")
    }
    guard let cause = error.cause, occur(in: String(reflecting: cause)) else { return error }
    return CacheError(error.code, error.message, hint: error.hint)
  }
}

extension HTTP.Fields {
  /// These fields, with lines replaced by those of `others` that have the same name.
  fileprivate func replacing(with others: HTTP.Fields) -> HTTP.Fields {
    HTTP.Fields(lines.filter { !others.contains($0.name) } + others.lines)
  }
}

/// The request for one resource of a server, without credentials.
public struct Endpoint: Sendable, Hashable {
  /// A phrase for messages that names the resource, such as "page 3 of cities".
  public let subject: String
  /// The request.
  public let request: HTTP.Request

  /// Creates an endpoint, by default a GET of `baseURL`.
  ///
  /// - Parameters:
  ///   - path: the path below `baseURL`, not encoded, beginning with a slash; empty for `baseURL` itself.
  ///   - query: the parameters, not encoded, in order.
  public init(
    _ subject: String, method: String = "GET", baseURL: BaseURL, path: String = "",
    query: KeyValuePairs<String, String> = [:], fields: HTTP.Fields = [:]
  ) {
    self.subject = subject
    let url = baseURL.url(of: PercentEncoding.path(path))
    request = HTTP.Request(method: method, url: Self.url(url, adding: query.map { ($0, $1) }), fields: fields)
  }

  /// A GET of `target`, an encoded path and query below `baseURL`.
  package init(_ subject: String, baseURL: BaseURL, target: String, fields: HTTP.Fields) {
    self.subject = subject
    request = HTTP.Request(url: baseURL.url(of: target), fields: fields)
  }

  /// `url` with further query parameters, which are not encoded.
  static func url(_ url: String, adding parameters: [(name: String, value: String)]) -> String {
    if parameters.isEmpty { return url }
    let query = parameters.map { "\(PercentEncoding.text($0.name))=\(PercentEncoding.text($0.value))" }
    return url + (url.contains("?") ? "&" : "?") + query.joined(separator: "&")
  }
}

/// The address of a server, with which the addresses of its resources begin. It contains no credentials.
public struct BaseURL: Sendable, Hashable, CustomStringConvertible {
  private let scheme: String
  /// The host in its normal form, and the port unless it is the scheme's default.
  private let authority: String
  private let hasPort: Bool
  private let path: String

  /// Parses `text`: `http` or `https`, a host, and optionally a port and a path.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is anything else, or has a user, a query or a
  ///   fragment.
  public init(_ text: String) throws(CacheError) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && !"@?#\"<>\\".utf8.contains($0) }), let url = URLReference(text),
      let scheme = url.scheme, ["https", "http"].contains(scheme), let host = url.host, !host.isEmpty
    else {
      throw CacheError(
        .invalidRequest, "the base URL of an origin is not an address of a server",
        hint: "give an address that begins with https:// or http://, without user, query and fragment")
    }
    self.scheme = scheme
    authority = host + (url.port.map { ":\($0)" } ?? "")
    hasPort = url.port != nil
    path = URLReference.withoutDots(url.path)
  }

  /// The address as a person writes it.
  public var description: String { "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)" }

  /// The address of the resource at `relativePath`, which is percent-encoded and begins with a slash; this address
  /// itself if it is empty. A slash at the end of this address makes no difference.
  func url(of relativePath: String) -> String {
    guard !relativePath.isEmpty else { return description }
    var folder = path[...]
    while folder.last == "/" { folder.removeLast() }
    return "\(scheme)://\(authority)\(folder)\(relativePath)"
  }

  /// The name of an origin of the kind `kind` at this address. For the well-known address `known` it is just the kind;
  /// any other address becomes part of the name, so that two servers never share cache entries.
  public func originName(_ kind: String, known: String? = nil) -> String {
    let isKnown = known.map { label == (try? BaseURL($0))?.label } ?? false
    return isKnown ? kind : "\(kind)@\(label)"
  }

  /// Host, port and path. Two schemes cannot share a port, so the port also identifies the scheme.
  private var label: String {
    let isPlainHTTP = scheme == "http" && !hasPort
    return "\(authority)\(isPlainHTTP ? ":80" : "")\(path == "/" ? "" : PercentEncoding.normalized(path))"
  }
}
