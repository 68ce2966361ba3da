internal import Base

/// The addresses of proxies as libcurl takes them.
enum ProxyAddress {
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// What is wrong with an address whose scheme is not known. It is not shown: it may hold a password.
  static let mistake = "there is no such kind of proxy"
  /// What to do about that.
  static let hint = "begin its address with one of \(schemes.map { "\($0)://" }.joined(separator: ", "))"

  /// Whether the scheme of `text` is that of a proxy. Without one it is a proxy of HTTP.
  static func hasKnownScheme(_ text: String) -> Bool {
    !text.holds("://") || schemes.contains { text.lowercased().hasPrefix("\($0)://") }
  }
}
