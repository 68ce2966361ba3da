public import CacheBase

/// The messages of HTTP and their parts. Their short names do not meet those of other packages.
public enum HTTP {}

extension HTTP {
  /// A request to a server.
  public struct Request: Sendable, Hashable {
    /// The method, such as GET; methods are case-sensitive.
    public var method: String
    /// The absolute URL, without a fragment or credentials.
    public var url: String
    /// The header fields.
    public var fields: HTTP.Fields
    /// The content; empty if there is none.
    public var body: [UInt8]
    /// The content, instead of `body`, if it is not held in memory. It can be sent only once.
    public var stream: StreamedContent?
    /// A digest of the client's certificate, by which a server can recognize it; `nil` if the client has none. It is
    /// never sent: it stands for the certificate when requests are compared, as `Authorization` does for itself.
    public var clientIdentity: String?
    /// The names of the fields whose values are secrets, besides `Authorization`, `Cookie` and `Proxy-Authorization`,
    /// which always are. A response to a request with such fields is used only for requests with the same ones, and they
    /// are not sent to another origin.
    public var secretFields: Set<String> = []
    /// The secrets that `url` leaves out of its query, by the names of their parameters. They are not sent: they stand for
    /// themselves when requests are compared.
    package var secretParameters: HTTP.Fields = [:]
    /// Whether "." and ".." in the path of the URL are sent unchanged. A cache removes them otherwise.
    public var keepsDotSegments = false

    /// Creates a request, by default a GET without content.
    public init(
      method: String = "GET", url: String, fields: HTTP.Fields = [:], body: [UInt8] = [],
      stream: StreamedContent? = nil,
      clientIdentity: String? = nil
    ) {
      self.method = method
      self.url = url
      self.fields = fields
      self.body = body
      self.stream = stream
      self.clientIdentity = clientIdentity
    }
  }
}

extension HTTP.Request {
  /// Whether the URL uses https, so that the server must prove its identity.
  public var isSecure: Bool { url.lowercased().hasPrefix("https://") }

  /// `clientIdentity`, if the connection can show it.
  public var shownIdentity: String? { isSecure ? clientIdentity : nil }

  /// The URL's host, and its port if it has one, without any credentials before them; `nil` if the URL names no server.
  public var authority: String? { URLParts(url)?.authority }
}

extension HTTP {
  /// A server's final response.
  public struct Response: Sendable, Hashable {
    /// The status and header fields.
    public var head: HTTP.ResponseHead
    /// The content as it arrived, without transfer codings.
    public var body: [UInt8]
    /// The content after `body`, if there is more than is held in memory; `nil` if `body` is all of it.
    public var rest: StreamedContent?
    /// The heads of the interim responses (1xx) that came first, in order. A cache does not keep them.
    public var interim: [HTTP.ResponseHead] = []
    /// The fields after the content; if there is a `rest`, they are in its `trailers`. A cache does not keep them.
    public var trailers: HTTP.Fields = [:]

    /// Creates a response.
    public init(_ head: HTTP.ResponseHead, body: [UInt8] = [], rest: StreamedContent? = nil) {
      self.head = head
      self.body = body
      self.rest = rest
    }
  }
}

/// A response and the URL that it came from.
public struct LocatedResponse: Sendable, Hashable {
  /// The URL, without credentials and without a fragment.
  public let url: String
  /// The response from that URL.
  public let response: HTTP.Response

  /// Creates the response from `url`.
  public init(url: String, response: HTTP.Response) {
    self.url = url
    self.response = response
  }
}

extension HTTP {
  /// The status line and the header fields of a response.
  public struct ResponseHead: Sendable, Hashable {
    /// The protocol version; `nil` in a response that no server sent.
    public var version: HTTP.Version?
    /// The status, from 100 to 999. Those from 600 on have no meaning, but servers sometimes send them.
    public var status: Int
    /// The words after the status, as they arrived; `nil` if there are none, as always with HTTP/2.
    public var reason: String?
    /// The header fields.
    public var fields: HTTP.Fields

    /// Creates a head.
    public init(version: HTTP.Version? = nil, status: Int, reason: String? = nil, fields: HTTP.Fields = [:]) {
      self.version = version
      self.status = status
      self.reason = reason
      self.fields = fields
    }
  }
}

extension HTTP {
  /// The HTTP version of a response, spelled as in its status line.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    /// HTTP/1.0.
    case http10 = "HTTP/1.0"
    /// HTTP/1.1 (RFC 9112).
    case http11 = "HTTP/1.1"
    /// HTTP/2 (RFC 9113).
    case http2 = "HTTP/2"
    /// HTTP/3 (RFC 9114).
    case http3 = "HTTP/3"
  }
}

/// The syntax of the parts of messages (RFC 9110, section 5).
package enum HTTPSyntax {
  /// Whether `text` is a token (section 5.6.2), as methods and the names of fields are.
  package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

  /// Whether `byte` is a character of tokens.
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// Whether `text` can be the value of the field Host: a host, and optionally a port (RFC 9110, section 7.2).
  package static func isHost(_ text: String) -> Bool {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/?#@\\".utf8.contains($0) }),
      let host = URLParts("//\(text)")?.host
    else { return false }
    return !host.isEmpty
  }

  /// Whether `text` can be sent as the value of a field: it has no control character but tabs (section 5.5).
  package static func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
  }
}

extension HTTP.Request {
  /// Whether `method` is GET or HEAD, which ask for a representation.
  package static func retrieves(_ method: String) -> Bool { method == "GET" || method == "HEAD" }

  /// Whether the request asks for the representation that its URL names: a GET or HEAD without content. A server can let
  /// the content of a GET decide its response (RFC 9110, section 9.3.1), so the cache neither serves nor stores one.
  package var retrieves: Bool { Self.retrieves(method) && !hasContent }

  /// Whether there is content to send.
  package var hasContent: Bool { !body.isEmpty || stream != nil }

  /// Whether the URL is of the scheme http or https. A request to another origin only names its resource.
  package var isHTTP: Bool { url.hasPrefix("http://") || url.hasPrefix("https://") }

  /// Whether the method changes nothing at its origin (RFC 9110, section 9.2.1).
  package var isSafe: Bool { Self.retrieves(method) || method == "OPTIONS" || method == "TRACE" }
}

extension HTTP.ResponseHead {
  /// The statuses that send a request elsewhere by `Location` (RFC 9110, section 15.4).
  package static let redirectStatuses: Set = [301, 302, 303, 307, 308]
}

extension CacheError {
  /// The error for a proxy that wants credentials for `server` and got none (status 407).
  public static func refusedByProxy(_ server: String) -> CacheError {
    CacheError(
      .originUnreachable, "the proxy for \(server) requires credentials (status 407)",
      hint: "write them into its address, as in https_proxy=http://NAME:PASSWORD@proxy:3128")
  }
}
