/// The settings from the options and the environment together.
struct NetworkSettings: Sendable {
  let options: TransportOptions
  /// Whether only the certificates below are trusted. If not, OpenSSL uses the system's for each one that is `nil`.
  let hasAuthorities: Bool
  let authorityFile: String?
  let authorityFolder: String?
  private let plainProxy: String
  private let secureProxy: String
  /// The servers to reach without a proxy, in libcurl's format.
  let noProxy: String

  /// Reads the environment variables it needs. An empty value counts as none.
  init(_ options: TransportOptions, environment: (String) -> String?) {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap(environment).first { !$0.isEmpty }
    }
    self.options = options
    hasAuthorities = options.authorityFile != nil || options.authorityFolder != nil
    let isSilent = !hasAuthorities && !options.isInsecure
    authorityFile = isSilent ? first("SSL_CERT_FILE") : options.authorityFile
    authorityFolder = isSilent ? first("SSL_CERT_DIR") : options.authorityFolder
    // Ignore `HTTP_PROXY`: in a program that answers web requests, it is the `Proxy` field of a request.
    plainProxy = options.proxy ?? first("http_proxy", "all_proxy", "ALL_PROXY") ?? ""
    secureProxy = options.proxy ?? first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY") ?? ""
    noProxy = first("no_proxy", "NO_PROXY") ?? ""
  }

  /// The proxy for `server`; empty for none.
  func proxy(for server: ServerAddress) -> String { server.isSecure ? secureProxy : plainProxy }
}
