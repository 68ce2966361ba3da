/// Why there is no response, or no more of it.
///
/// It names no more of a URL than its host and port, because URLs hold secrets.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong.
  public enum Code: Sendable, Hashable, CaseIterable {
    /// The request cannot be sent over HTTP; the detail says why.
    case invalidRequest
    /// libcurl cannot be loaded or does not work; the detail says why.
    case unavailable
    /// The name of the server is not known, or the look-up failed.
    case cannotResolve
    /// The name of the proxy is not known, or the look-up failed.
    case cannotResolveProxy
    /// The server refuses connections or is out of reach.
    case cannotConnect
    /// The proxy refuses connections or is out of reach; the detail is its host and port.
    case cannotConnectToProxy
    /// The proxy does not connect to the server; the detail says why, with the proxy's status where there is one.
    case proxy
    /// There is no secure connection, mostly because the server does not prove who it is; the detail says why.
    case tls
    /// A file of trusted certificates, or of the client's own or its key, cannot be used; the detail says why.
    case unusableFile
    /// Connecting took longer than `TransportOptions.connectTimeout`, or the whole than `totalTimeout` before there was
    /// a connection.
    case connectTimedOut
    /// The response did not end within `TransportOptions.totalTimeout`.
    case timedOut
    /// The connection was lost before the response ended, or before it began.
    case cutOff
    /// The response is not valid HTTP; the detail says why.
    case invalidMessage
    /// The header is longer than 300 KiB, trailers and interim responses included, or one line longer than libcurl's
    /// 100 KiB.
    case headTooLarge
    /// The response is longer than the caller takes; the detail is the limit in bytes.
    case tooLarge
    /// The request's content could not be read, or has another length than was said; the detail says why.
    case content
    /// The task was cancelled, or the exchange.
    case cancelled
    /// Any other failure; the detail says which.
    case failed
  }

  /// What went wrong.
  public let code: Code
  /// The host of the server, and its port where the URL has one; empty where the URL has no host.
  public let server: String
  /// What is known beyond the code; mostly empty, or libcurl's own words.
  public let detail: String
  /// Whether nothing came through a proxy: the failure may be the proxy's or the server's.
  public let mayBeOfProxy: Bool

  /// An error with the given parts.
  public init(_ code: Code, server: String, detail: String = "", mayBeOfProxy: Bool = false) {
    self.code = code
    self.server = server
    self.detail = detail
    self.mayBeOfProxy = mayBeOfProxy
  }

  /// For logs: `tls (example.com:443): self-signed certificate`.
  public var description: String { "\(code) (\(server))" + (detail.isEmpty ? "" : ": \(detail)") }
}
