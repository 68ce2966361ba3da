internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// Says in our words why a transfer failed. Nothing but the server is named, because a URL may hold secrets.
struct TransferErrorResolver: Sendable {
  private let server: String
  /// The host and the port that the server is at; a connection to another place is one to a proxy.
  private let place: (host: String, port: Int)
  private let isHead: Bool
  private let timeout: Duration

  init(_ request: HTTPRequest, timeout: Duration) {
    let url = URLComponents(string: request.url)
    server = (url?.host ?? "the server") + (url?.port.map { ":\($0)" } ?? "")
    place = (url?.host ?? "", url?.port ?? (url?.scheme?.lowercased() == "https" ? 443 : 80))
    isHead = request.method == "HEAD"
    self.timeout = timeout
  }

  /// The transfer took too long.
  var timedOut: CacheError {
    unreachable(
      "\(server) did not answer within \(timeout)", hint: "try again later, or allow more time by the setting 'timeout'"
    )
  }

  /// There is no answer that HTTP knows.
  var noHTTP: CacheError {
    CacheError(.invalidAnswer, "the answer of \(server) is no HTTP", hint: "check the address and its port")
  }

  /// The body is larger than `limit` bytes.
  func tooLarge(_ limit: Int) -> CacheError {
    CacheError(
      .invalidAnswer, "the answer of \(server) is larger than \(limit) bytes",
      hint: "raise the setting 'maxResponseBytes' where that is right")
  }

  /// Whether an answer with `head` has a body.
  func hasBody(_ head: HTTPResponseHead) -> Bool {
    !isHead && head.status != 204 && head.status != 304 && head.status >= 200
  }

  /// `response`, or the error that it is where it has fewer bytes than it says.
  func checked(_ response: HTTPResponse) -> Result<HTTPResponse, CacheError> {
    guard hasBody(response.head) else { return .success(HTTPResponse(response.head)) }
    if let length = response.head.contentLength, length > response.body.count { return .failure(cutShort) }
    return .success(HTTPResponse(response.head.describing(response.body), body: response.body))
  }

  /// The error that the session's `error` is.
  func error(for error: any Error) -> CacheError {
    let text = "\((error as NSError).localizedDescription)"
    switch (error as? URLError)?.code {
    case .cancelled: return .cancelled
    case .timedOut: return timedOut
    case .badURL where server.hasPrefix("["):
      return CacheError(
        .invalidRequest, "an IPv6 address in a URL is not supported", hint: "write a host name instead of \(server)")
    // The URL is one of HTTP: what libcurl does not support here is what came back.
    case .badURL, .unsupportedURL: return noHTTP
    case .cannotFindHost, .dnsLookupFailed:
      return unreachable("the name of \(server) is not known", hint: "check the name and the connection to the network")
    case .cannotConnectToHost:
      if let proxy = proxy(thatRefused: text) {
        return unreachable("the proxy \(proxy) refuses the connection for \(server)", hint: Self.proxyHint)
      }
      return unreachable("\(server) refuses the connection", hint: "check the address and port, and that it is running")
    default: return self.error(saying: text)
    }
  }

  /// The error by what libcurl says of it: the session has no code of its own for most of them.
  private func error(saying text: String) -> CacheError {
    let words = text.lowercased()
    let isAbout: ([String]) -> Bool = { $0.contains(where: words.contains) }
    if isAbout(["resolve proxy"]) {
      return unreachable("the name of the proxy for \(server) is not known", hint: Self.proxyHint)
    }
    if isAbout(["connect tunnel failed", "proxy connect aborted", "from proxy after connect"]) {
      let status = text.firstRange(of: "response ").map { " with status \(text[$0.upperBound...].prefix(3))" } ?? ""
      return unreachable("the proxy refuses to connect to \(server)\(status)", hint: Self.proxyHint)
    }
    // What libcurl says of a field that is longer than it takes in: 100 KiB, and in later versions 300 KiB in all.
    if isAbout(["out of memory", "too large response header"]) {
      return CacheError(
        .invalidAnswer, "the answer of \(server) has a header field that is too long",
        hint: "have the server send shorter header fields: at most 100 KiB each")
    }
    if isAbout(["ssl", "tls", "certificate"]) {
      return unreachable(
        "there is no secure connection to \(server): \(text)",
        hint: "check its certificate, the clock of this machine, and that the package ca-certificates is installed")
    }
    if isAbout(["remaining", "outstanding", "chunk", "closed", "reset", "empty reply"]) { return cutShort }
    if isAbout(["header", "http/", "encoding", "weird server reply"]) { return noHTTP }
    return unreachable("the transfer from \(server) failed: \(text)", hint: "try again later")
  }

  private static let proxyHint =
    "check the proxy in http_proxy, https_proxy or all_proxy, or name the server in no_proxy"

  /// The host and port of the proxy that `text` says could not be connected to, "Failed to connect to HOST port N";
  /// `nil` where that was the server itself. Without the proxy's password, which libcurl does not write there.
  private func proxy(thatRefused text: String) -> String? {
    guard let start = text.firstRange(of: "connect to ") else { return nil }
    let words = text[start.upperBound...].split(separator: " ").prefix(3).map(String.init)
    guard words.count == 3, words[1] == "port", let port = Int(words[2].prefix { $0.isNumber }) else { return nil }
    let host = words[0]
    let isServer = port == place.port && host.lowercased() == place.host.lowercased()
    return isServer ? nil : "\(host):\(port)"
  }

  private var cutShort: CacheError {
    unreachable("the answer of \(server) broke off before its end", hint: "try again later")
  }

  private func unreachable(_ message: String, hint: String) -> CacheError {
    CacheError(.originUnreachable, message, hint: hint)
  }
}
