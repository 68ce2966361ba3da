internal import FetchVocabulary
internal import HTTPCaching

extension CacheError {
  /// The error of a fetch for a transport error, with a hint about what to do. It names only the server, because the
  /// rest of a URL may contain secrets.
  ///
  /// - Parameters:
  ///   - timeout: the time limit that was exceeded, if the error is a timeout.
  ///   - isForSilence: whether that limit is for each wait for the server, rather than for the whole response.
  ///   - settings: the settings of the limits.
  init(_ error: TransportError, timeout: Duration, isForSilence: Bool, settings: LimitSettings) {
    let name = error.server.isEmpty ? "the server" : error.server
    let server = error.mayBeOfProxy ? "\(name) or the proxy before it" : name
    self =
      switch error.code {
      case .cancelled: .cancelled
      case .invalidRequest: .unsendable(error)
      case .content:
        CacheError(
          .ioFailed, "the content cannot be sent: \(error.detail)",
          hint: "send a file that does not change meanwhile")
      case .invalidMessage, .headTooLarge, .tooLarge: .unusable(error, server, settings)
      case .proxy, .cannotConnectToProxy, .cannotResolveProxy: .unreachable(byProxy: error, server)
      case .timedOut, .connectTimedOut:
        .unreachable(
          !error.hasHead
            ? "\(server) did not answer within \(timeout)"
            : isForSilence
              ? "\(server) sent nothing more for \(timeout)"
              : "the response of \(server) was not complete within \(timeout)",
          error.patience + (settings.timeout.map { ", or raise \($0)" } ?? ""))
      case .unusableFile:
        CacheError(
          .originUnavailable, "a certificate or key cannot be used: \(error.detail)",
          hint: "correct the file that the configuration, an option or SSL_CERT_FILE names")
      default: .unreachable(error, server)
      }
  }

  private static func unsendable(_ error: TransportError) -> CacheError {
    CacheError(
      .invalidRequest, "the request cannot be sent: \(error.detail)",
      hint: "write the URL as https://example.com/path, and header fields as 'Name: value'")
  }

  private static func unusable(_ error: TransportError, _ server: String, _ settings: LimitSettings) -> CacheError {
    let (message, hint) =
      switch error.code {
      case .headTooLarge:
        ("has a header that is too long", "have the server send less: at most 100 KiB in a line and 300 KiB in all")
      case .tooLarge:
        ("is larger than \(error.detail) bytes", settings.adviceOnSize)
      default: ("is no valid HTTP: \(error.detail)", "check the address and its port")
      }
    return CacheError(.invalidAnswer, "the answer of \(server) \(message)", hint: hint)
  }

  private static func unreachable(byProxy error: TransportError, _ server: String) -> CacheError {
    if error.detail == "status 407" { return .refusedByProxy(server) }
    let message =
      switch error.code {
      case .cannotResolveProxy: "the name of the proxy for \(server) is not known"
      case .cannotConnectToProxy: "the proxy \(error.detail) refuses the connection for \(server)"
      default: "the proxy does not connect to \(server)" + (error.detail.isEmpty ? "" : ": \(error.detail)")
      }
    return .unreachable(
      message,
      "check the proxy of the configuration, or that in http_proxy, https_proxy or all_proxy; or name the server in no_proxy"
    )
  }

  private static func unreachable(_ error: TransportError, _ server: String) -> CacheError {
    switch error.code {
    case .unavailable:
      .unreachable(
        "the network cannot be used: \(error.detail)",
        "install libcurl, in Debian and Ubuntu with: apt install libcurl4")
    case .cannotResolve:
      .unreachable("the name of \(server) is not known", "check the name and the connection to the network")
    case .cannotConnect:
      .unreachable("\(server) refuses the connection", "check the address and port, and that it is running")
    case .tls:
      .unreachable(
        "there is no secure connection to \(server): \(error.detail)",
        "check its certificate, the clock of this machine, and the certificates that are trusted: those of the"
          + " configuration, of SSL_CERT_FILE, or of the package ca-certificates; and the client's own, where it wants one"
      )
    case .cutOff: .unreachable("the answer of \(server) broke off before its end", error.patience)
    default: .unreachable("the transfer from \(server) failed: \(error.detail)", "try again later")
    }
  }

  private static func unreachable(_ message: String, _ hint: String) -> CacheError {
    CacheError(.originUnreachable, message, hint: hint)
  }
}

extension TransportError {
  /// The hint for a server or proxy that may answer later.
  fileprivate var patience: String { mayBeOfProxy ? "try again later, or check the proxy" : "try again later" }
}
