internal import CacheBase
internal import FetchVocabulary
internal import HTTPCaching

/// A request that has been checked and can be sent.
struct OutgoingRequest: Sendable {
  /// The request, with the name of its server in ASCII.
  let message: HTTP.Request
  let server: ServerAddress
  /// Whether there is content, even if it is empty.
  let hasContent: Bool

  /// Methods whose requests give a length of zero if there is no content (RFC 9110, section 8.6).
  private static let contentMethods: Set = ["POST", "PUT", "PATCH"]

  /// Checks `request`.
  init(_ request: HTTP.Request) throws(CacheError) {
    var request = request
    request.url = ServerName.inASCII(request.url)
    func check(_ isValid: Bool, _ reason: String) throws(CacheError) {
      if !isValid { throw .unsendable(reason) }
    }
    try check(!request.url.utf8.contains { $0 <= 32 || $0 == 127 }, "the URL has spaces or control characters")
    guard let server = ServerAddress(request) else { throw .unsendable("this is not a URL of a web server") }
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
    for name in ["Transfer-Encoding", "Expect"] where request.fields.contains(name) {
      throw CacheError(
        .invalidRequest, "the request cannot be sent: the transport sets \(name) itself", hint: "leave out the field")
    }
    message = request
    self.server = server
    hasContent = request.stream != nil || !request.body.isEmpty || Self.contentMethods.contains(request.method)
    try check(request.method != "HEAD" || !hasContent, "HEAD has no content")
    if let length = request.fields["content-length"] {
      try check(length == contentLength.map { String($0) }, "Content-Length is not the length of the content")
    }
  }

  /// The number of bytes of the content; `nil` if unknown.
  var contentLength: Int? { message.stream.map(\.length) ?? message.body.count }
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
  init?(_ request: HTTP.Request) {
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
