internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// Says in our words why a transfer failed. Nothing but the server is named, because a URL may hold secrets.
struct TransferErrorResolver: Sendable {
  private let server: String
  private let isHead: Bool
  private let timeout: Duration

  init(_ request: HTTPRequest, timeout: Duration) {
    let url = URLComponents(string: request.url)
    server = (url?.host ?? "the server") + (url?.port.map { ":\($0)" } ?? "")
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
    // The URL is one of HTTP: what libcurl does not support here is what came back.
    case .badURL, .unsupportedURL: return noHTTP
    case .cannotFindHost, .dnsLookupFailed:
      return unreachable("the name of \(server) is not known", hint: "check the name and the connection to the network")
    case .cannotConnectToHost:
      return unreachable("\(server) refuses the connection", hint: "check the address and port, and that it is running")
    default: return self.error(saying: text)
    }
  }

  /// The error by what libcurl says of it: the session has no code of its own for most of them.
  private func error(saying text: String) -> CacheError {
    let words = text.lowercased()
    let isAbout: ([String]) -> Bool = { $0.contains(where: words.contains) }
    if isAbout(["ssl", "tls", "certificate"]) {
      return unreachable(
        "there is no secure connection to \(server): \(text)",
        hint: "check its certificate, the clock of this machine, and that the package ca-certificates is installed")
    }
    if isAbout(["remaining", "outstanding", "chunk", "closed", "reset", "empty reply"]) { return cutShort }
    if isAbout(["header", "http/", "encoding", "weird server reply"]) { return noHTTP }
    return unreachable("the transfer from \(server) failed: \(text)", hint: "try again later")
  }

  private var cutShort: CacheError {
    unreachable("the answer of \(server) broke off before its end", hint: "try again later")
  }

  private func unreachable(_ message: String, hint: String) -> CacheError {
    CacheError(.originUnreachable, message, hint: hint)
  }
}
