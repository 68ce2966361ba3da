internal import Base
internal import CCurl

/// A failure reported by libcurl: a code, a text for people, and how far the transfer had come.
struct LibcurlFailure {
  let code: CURLcode
  let text: String
  let wasConnected: Bool
  let hasHead: Bool
  let usesProxy: Bool
  /// The port of the connection; 0 for none. A proxy's port usually differs from the server's.
  let port: Int

  /// `CURLE_TOO_LARGE`, which older headers lack.
  private static let tooLarge = CURLcode(rawValue: 100)

  /// The error for a transfer with `server`. It contains libcurl's text only if that can repeat no part of the URL
  /// except the host.
  func error(for server: ServerAddress) -> TransportError {
    let (code, detail) = meaning(for: server)
    let mayBeOfProxy = usesProxy && !hasHead && port != server.port
    return TransportError(
      code, server: server.authority, detail: detail,
      mayBeOfProxy: mayBeOfProxy && [.cutOff, .timedOut, .connectTimedOut].contains(code), hasHead: hasHead)
  }

  private func meaning(for server: ServerAddress) -> (TransportError.Code, String) {
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: (.invalidRequest, "the URL is not valid")
    case CURLE_COULDNT_RESOLVE_HOST: (.cannotResolve, "")
    case CURLE_COULDNT_RESOLVE_PROXY: (.cannotResolveProxy, "")
    case CURLE_COULDNT_CONNECT: refusal(of: server)
    case CURLE_PROXY: (.proxy, text)
    case CURLE_OPERATION_TIMEDOUT: (wasConnected ? .timedOut : .connectTimedOut, "")
    case CURLE_OUT_OF_MEMORY where wasConnected && !hasHead, Self.tooLarge: (.headTooLarge, "")
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING: (.cutOff, "")
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: brokenConnection
    case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3: (.cutOff, text)
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: (.invalidMessage, text)
    // libcurl's code for a header line or trailer without a name or colon.
    case CURLE_BAD_FUNCTION_ARGUMENT where wasConnected: (.invalidMessage, "a line of the header cannot be read")
    case CURLE_SEND_FAIL_REWIND: (.content, "it would have to be sent again")
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM: (.unusableFile, text.isEmpty ? words : text)
    case _ where isOfTLS: (.tls, text.isEmpty ? words : text)
    default: (.failed, words)
    }
  }

  private var words: String { String(cString: ccurl_easy_strerror(code)) }

  private var isOfTLS: Bool {
    [
      CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
      CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
    ].contains(code)
  }

  /// The failure of a lost connection. libcurl reports refusing proxies and oversized headers the same way.
  private var brokenConnection: (TransportError.Code, String) {
    if text.holds("Too large response headers") { return (.headTooLarge, "") }
    if text.holds("CONNECT") {
      let status = text.split(separator: " ").compactMap { Int($0) }.first { (100...599).contains($0) }
      return (.proxy, status.map { "status \($0)" } ?? "")
    }
    // A server may reject or miss the client's certificate after TLS has been set up.
    if text.holds("alert") { return (.tls, text) }
    return (.cutOff, "")
  }

  /// libcurl says "Failed to connect to HOST port N": if that is not the server, it is the proxy.
  private func refusal(of server: ServerAddress) -> (TransportError.Code, String) {
    // Do not pass the text on: it shows the proxy's address, which may contain a password.
    if text.hasPrefix("Unsupported proxy") { return (.proxy, "there is no such kind of proxy") }
    let words = text.split(separator: " ")
    guard usesProxy, let start = words.firstIndex(of: "connect"), words.count > start + 4, words[start + 3] == "port",
      let port = Int(words[start + 4].prefix { $0.isNumber })
    else { return (.cannotConnect, "") }
    let host = words[start + 2]
    let isServer = port == server.port && host.lowercased() == server.host.trimming("[]").lowercased()
    return isServer ? (.cannotConnect, "") : (.cannotConnectToProxy, "\(host):\(port)")
  }
}

extension String {
  /// This text without those of `characters` at both ends.
  fileprivate func trimming(_ characters: String) -> Substring {
    var rest = drop { characters.contains($0) }
    while let last = rest.last, characters.contains(last) { rest.removeLast() }
    return rest
  }
}
