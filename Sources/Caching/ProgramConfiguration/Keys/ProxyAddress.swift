internal import Base

/// The addresses of proxies, as libcurl accepts them.
package enum ProxyAddress {
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// The message for an address with an unknown scheme. The address is not shown: it may contain a password.
  package static let mistake = "there is no such kind of proxy"
  /// The hint for that message.
  package static let hint = "begin its address with one of \(schemes.map { "\($0)://" }.joined(separator: ", "))"

  /// Whether `text` has the scheme of a proxy. Without a scheme it is an HTTP proxy.
  package static func hasKnownScheme(_ text: String) -> Bool {
    !text.holds("://") || schemes.contains { text.lowercased().hasPrefix("\($0)://") }
  }
}
