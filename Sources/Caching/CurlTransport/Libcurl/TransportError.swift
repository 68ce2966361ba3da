/// Why there is no response, or no more of it.
///
/// It names only the host and port of a URL, because the rest may contain secrets.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: Sendable, Hashable, CaseIterable {
    /// The request cannot be sent over HTTP; the detail says why.
    case invalidRequest
    /// libcurl cannot be loaded or does not work; the detail says why.
    case unavailable
    /// The server's name is unknown, or the look-up failed.
    case cannotResolve
    /// The proxy's name is unknown, or the look-up failed.
    case cannotResolveProxy
    /// The server refuses connections or is out of reach.
    case cannotConnect
    /// The proxy refuses connections or is out of reach; the detail is its host and port.
    case cannotConnectToProxy
    /// The proxy does not connect to the server; the detail says why, with the proxy's status if it sent one.
    case proxy
    /// There is no secure connection, usually because the server's identity could not be verified; the detail says why.
    case tls
    /// A file with trusted certificates, the client's certificate or its key cannot be used; the detail says why.
    case unusableFile
    /// Connecting took longer than `TransportOptions.connectTimeout`, or `totalTimeout` passed before there was a
    /// connection.
    case connectTimedOut
    /// The response did not end within `TransportOptions.totalTimeout`.
    case timedOut
    /// The connection was lost before the response ended, or before it began.
    case cutOff
    /// The response is not valid HTTP; the detail says why.
    case invalidMessage
    /// The header is longer than 300 KiB, including trailers and interim responses, or one line is longer than
    /// libcurl's limit of 100 KiB.
    case headTooLarge
    /// The response is longer than the caller accepts; the detail is the limit in bytes.
    case tooLarge
    /// The request's content could not be read, or its length is not the one announced; the detail says why.
    case content
    /// The task or the exchange was cancelled.
    case cancelled
    /// Any other failure; the detail says which.
    case failed
  }

  /// The kind of failure.
  public let code: Code
  /// The server's host, and its port if the URL has one; empty if the URL has no host.
  public let server: String
  /// Details beyond the code; usually empty, or libcurl's own words.
  public let detail: String
  /// Whether a proxy was used and nothing came through it: the failure may be the proxy's or the server's.
  public let mayBeOfProxy: Bool

  /// Whether the head of the final response had arrived before the failure.
  public let hasHead: Bool

  /// Creates an error.
  public init(
    _ code: Code, server: String, detail: String = "", mayBeOfProxy: Bool = false, hasHead: Bool = false
  ) {
    self.hasHead = hasHead
    self.code = code
    self.server = server
    self.detail = detail
    self.mayBeOfProxy = mayBeOfProxy
  }

  /// For logs: `tls (example.com:443): self-signed certificate`.
  public var description: String { "\(code) (\(server))" + (detail.isEmpty ? "" : ": \(detail)") }
}
