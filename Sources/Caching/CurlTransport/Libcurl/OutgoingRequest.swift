internal import Base
internal import HTTPCaching

/// A request that has been checked and can be sent.
struct OutgoingRequest: Sendable {
  let method: String
  let url: String
  let fields: HTTPFields
  /// The content; `nil` for none.
  let content: RequestContent?
  /// Whether to show the client's certificate to the server.
  let showsIdentity: Bool
  let server: ServerAddress

  /// Methods whose requests give a length of zero if there is no content (RFC 9110, section 8.6).
  private static let contentMethods: Set = ["POST", "PUT", "PATCH"]

  /// Checks `request`. `content` replaces its body, unless it is `nil`.
  init(_ request: HTTPRequest, content: RequestContent?) throws(TransportError) {
    var request = request
    request.url = ServerName.inASCII(request.url)
    func check(_ isValid: Bool, _ reason: String) throws(TransportError) {
      if !isValid { throw TransportError(.invalidRequest, server: request.authority ?? "", detail: reason) }
    }
    try check(!request.url.utf8.contains { $0 <= 32 || $0 == 127 }, "the URL has spaces or control characters")
    guard let server = ServerAddress(request) else {
      throw TransportError(
        .invalidRequest, server: request.authority ?? "", detail: "this is no URL of a web server")
    }
    let isASCII = server.host.utf8.allSatisfy { $0 < 0x80 }
    try check(isASCII, ServerName.missingLibrary.map { "\($0)" } ?? "the URL has no valid name of a server")
    try check(!server.hasCredentials, "the URL has credentials: send them as a header field Authorization")
    try check(HTTPSyntax.isToken(request.method), "the method has characters that HTTP does not allow")
    try check(request.method != "CONNECT", "CONNECT is for proxies")
    for field in request.fields.lines {
      try check(HTTPSyntax.isToken(field.name), "the name of a header field has characters that HTTP does not allow")
      try check(HTTPSyntax.isFieldValue(field.value), "a header field has control characters")
    }
    try check(request.hasValidHost, "the header field Host does not name one server")
    for name in ["Transfer-Encoding", "Expect"] {
      try check(!request.fields.contains(name), "\(name) is the transport's to choose")
    }
    let anyContent = content ?? (request.body.isEmpty ? nil : .bytes(request.body))
    (method, url, fields, self.server) = (request.method, request.url, request.fields, server)
    showsIdentity = request.shownIdentity != nil
    self.content = anyContent ?? (Self.contentMethods.contains(request.method) ? .bytes([]) : nil)
    try check(method != "HEAD" || self.content == nil, "HEAD has no content")
    if let length = fields["content-length"] {
      try check(
        length == String(self.content == nil ? 0 : self.content?.length ?? -1),
        "Content-Length is not the length of the content")
    }
  }

  func error(_ code: TransportError.Code, _ detail: String = "") -> TransportError {
    TransportError(code, server: server.authority, detail: detail)
  }
}

extension RequestContent {
  /// The number of bytes; `nil` if unknown.
  var length: Int? {
    switch self {
    case .bytes(let bytes): bytes.count
    case .stream(let length, _): length
    }
  }
}

/// The server that a request goes to.
struct ServerAddress: Sendable, Hashable {
  let isSecure: Bool
  /// The host, and the port if the URL gives one.
  let authority: String
  /// The host, with an IPv6 address in brackets.
  let host: String
  let port: Int
  let hasCredentials: Bool

  /// Reads the server of an http or https request; `nil` for any other.
  init?(_ request: HTTPRequest) {
    guard let url = URLParts(request.url), let scheme = url.scheme, ["https", "http"].contains(scheme),
      let host = url.host, let authority = url.authority
    else { return nil }
    isSecure = scheme == "https"
    self.authority = authority
    self.host = String(host)
    port = url.port ?? (isSecure ? 443 : 80)
    hasCredentials = url.userInfo != nil
  }
}
