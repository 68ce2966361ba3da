internal import CacheBase
internal import CCurl
internal import FetchVocabulary
internal import HTTPCaching

/// The limits of a transfer, and the settings from which they come.
struct TransferLimits: Sendable {
  let timeout: Duration
  /// How long a whole transfer can take; `nil` for no further limit.
  let totalTimeout: Duration?
  /// Whether `timeout` is for each wait for the server, rather than for the whole response.
  let isForEachWait: Bool
  /// How long a connection may take, if `isForEachWait`; `nil` for `timeout`.
  var connectTimeout: Duration?
  let settings: LimitSettings
}

/// A failure that libcurl reports, and how far the transfer had come.
///
/// The error for it names only the server, because the rest of a URL can contain secrets, and contains libcurl's text
/// only if that can repeat no part of the URL except the host.
struct TransferFailure {
  let code: CURLcode
  /// libcurl's words for people; empty if it has none.
  let text: String
  let wasConnected: Bool
  let hasHead: Bool
  let usesProxy: Bool
  /// The port of the connection; 0 for none. A proxy's port usually differs from the server's.
  let port: Int
  let server: ServerAddress
  let duration: Duration
  let limits: TransferLimits

  /// `CURLE_TOO_LARGE`, which older headers lack.
  private static let tooLarge = CURLcode(rawValue: 100)

  var error: CacheError {
    let name = server.authority
    return switch code {
    case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .unsendable("the URL is not valid")
    case CURLE_COULDNT_RESOLVE_HOST:
      .unreachable("the name of \(name) is not known", "check the name and the connection to the network")
    case CURLE_COULDNT_RESOLVE_PROXY: proxyFailure("the name of the proxy for \(name) is not known")
    case CURLE_COULDNT_CONNECT: refusal
    case CURLE_PROXY: proxyRefusal(text)
    case CURLE_OPERATION_TIMEDOUT: timeout
    case CURLE_OUT_OF_MEMORY where wasConnected && !hasHead, Self.tooLarge: .headTooLarge(of: name)
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3: brokenOff
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: lostConnection
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .invalidMessage(of: name, text)
    // libcurl's code for a header line or trailer without a name or colon.
    case CURLE_BAD_FUNCTION_ARGUMENT where wasConnected:
      .invalidMessage(of: name, "a line of the header cannot be read")
    case CURLE_SEND_FAIL_REWIND: .unsendableContent("it would have to be sent again")
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
      CacheError(
        .originUnavailable, "a certificate or key cannot be used: \(words)",
        hint: "correct the file that the configuration, an option or SSL_CERT_FILE names")
    case _ where isOfTLS: insecure
    default:
      .unreachable(
        "the transfer from \(name) failed: \(String(cString: ccurl_easy_strerror(code)))", "try again later")
    }
  }

  /// libcurl's text, or what it says for the code.
  private var words: String { text.isEmpty ? String(cString: ccurl_easy_strerror(code)) : text }

  private var isOfTLS: Bool {
    [
      CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
      CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
    ].contains(code)
  }

  private var insecure: CacheError {
    .unreachable(
      "there is no secure connection to \(server.authority): \(words)",
      "check its certificate, the clock of this machine, and the certificates that are trusted: those of the"
        + " configuration, of SSL_CERT_FILE, or of the package ca-certificates; and the client's own, if the server requires one"
    )
  }

  // MARK: Servers and proxies that do not respond

  /// Whether a proxy was used and nothing came through it: the failure might be the proxy's or the server's.
  private var mayBeOfProxy: Bool { usesProxy && !hasHead && port != server.port }
  private var suspect: String { mayBeOfProxy ? "\(server.authority) or the proxy before it" : server.authority }
  private var patience: String { mayBeOfProxy ? "try again later, or check the proxy" : "try again later" }

  private var brokenOff: CacheError { .unreachable("the response of \(suspect) broke off before its end", patience) }

  private var timeout: CacheError {
    if limits.isForEachWait, !wasConnected, let limit = limits.connectTimeout,
      limits.totalTimeout.map({ limit < $0 }) ?? true
    {
      return .unreachable("there was no connection to \(suspect) within \(limit)", patience)
    }
    // libcurl may stop a moment before the limit; no wait can have ended before its own.
    let isTotal = limits.totalTimeout.map { duration < limits.timeout || duration + .milliseconds(50) >= $0 } ?? false
    let total = isTotal ? limits.totalTimeout : nil
    let limit = total ?? limits.timeout
    let message =
      !hasHead
      ? "\(suspect) did not respond within \(limit)"
      : total == nil && limits.isForEachWait
        ? "\(suspect) sent nothing more for \(limit)"
        : "the response of \(suspect) was not complete within \(limit)"
    return .unreachable(message, patience + (limits.settings.timeout.map { ", or raise \($0)" } ?? ""))
  }

  /// The failure of a lost connection. libcurl reports refusing proxies and oversized headers the same way.
  private var lostConnection: CacheError {
    if text.holds("Too large response headers") { return .headTooLarge(of: server.authority) }
    if text.holds("CONNECT") {
      let status = text.split(separator: " ").compactMap { Int($0) }.first { (100...599).contains($0) }
      return status == 407 ? .refusedByProxy(server.authority) : proxyRefusal(status.map { "status \($0)" } ?? "")
    }
    // A server can reject or miss the client's certificate after TLS has been set up.
    return text.holds("alert") ? insecure : brokenOff
  }

  /// libcurl says "Failed to connect to HOST port N": if that is not the server, it is the proxy.
  private var refusal: CacheError {
    let refusal = CacheError.unreachable(
      "\(server.authority) refuses the connection", "check the address and port, and that it is running")
    // Do not pass the text on: it shows the proxy's address, which might contain a password.
    if text.hasPrefix("Unsupported proxy") { return proxyRefusal("there is no such kind of proxy") }
    let words = text.split(separator: " ")
    guard usesProxy, let start = words.firstIndex(of: "connect"), words.count > start + 4, words[start + 3] == "port",
      let port = Int(words[start + 4].prefix { $0.isNumber })
    else { return refusal }
    let host = words[start + 2]
    let isServer = [host.lowercased(), "[\(host.lowercased())]"].contains(server.host.lowercased())
    if isServer, port == server.port { return refusal }
    return proxyFailure("the proxy \(host):\(port) refuses the connection for \(server.authority)")
  }

  private func proxyRefusal(_ reason: String) -> CacheError {
    proxyFailure("the proxy does not connect to \(server.authority)" + (reason.isEmpty ? "" : ": \(reason)"))
  }

  private func proxyFailure(_ message: String) -> CacheError {
    .unreachable(
      message,
      "check the proxy of the configuration, or that in http_proxy, https_proxy or all_proxy; or name the server in no_proxy"
    )
  }
}

/// Failures that libcurl does not report.
extension CacheError {
  static func unsendable(_ reason: String) -> CacheError {
    CacheError(
      .invalidRequest, "the request cannot be sent: \(reason)",
      hint: "write the URL as https://example.com/path, and header fields as 'Name: value'")
  }

  static func unsendableContent(_ reason: String) -> CacheError {
    CacheError(
      .ioFailed, "the content cannot be sent: \(reason)", hint: "send a file that does not change meanwhile")
  }

  /// The error for a libcurl that cannot be loaded or does not work.
  static func noNetwork(_ reason: String) -> CacheError {
    .unreachable(
      "the network cannot be used: \(reason)", "install libcurl, in Debian and Ubuntu with: apt install libcurl4")
  }

  static func invalidMessage(of server: String, _ reason: String) -> CacheError {
    CacheError(
      .invalidAnswer, "the response of \(server) is not valid HTTP: \(reason)", hint: "check the address and its port")
  }

  static func headTooLarge(of server: String) -> CacheError {
    CacheError(
      .invalidAnswer, "the response of \(server) has a header that is too long",
      hint: "have the server send less: at most 100 KiB in a line and 300 KiB in all")
  }

  /// The error for a response to `request` with more than `limit` bytes of content.
  static func contentTooLarge(
    _ head: HTTP.ResponseHead, of request: HTTP.Request, limit: Int, _ settings: LimitSettings
  ) -> CacheError {
    let advice = settings.size.map { "raise \($0) if the content is right" }
    return CacheError(
      .invalidAnswer, "the response of \(request.authority ?? "the server") is larger than \(limit) bytes",
      hint: advice ?? "raise the limit if the content is right"
    ).after(head, of: request)
  }

  fileprivate static func unreachable(_ message: String, _ hint: String) -> CacheError {
    CacheError(.originUnreachable, message, hint: hint)
  }
}
