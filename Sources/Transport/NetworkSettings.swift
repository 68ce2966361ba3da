/// What the options and the environment say together.
struct NetworkSettings: Sendable {
  let options: TransportOptions
  /// Whether only the following are trusted. Otherwise the system's count where these are `nil`, as OpenSSL has it.
  let hasAuthorities: Bool
  let authorityFile: String?
  let authorityFolder: String?
  private let plainProxy: String
  private let secureProxy: String
  /// The servers that are reached without a proxy, as libcurl reads them.
  let noProxy: String

  /// Reads what it needs of the environment, in which an empty value is none.
  init(_ options: TransportOptions, environment: (String) -> String?) {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap(environment).first { !$0.isEmpty }
    }
    self.options = options
    hasAuthorities = options.authorityFile != nil || options.authorityFolder != nil
    let isSilent = !hasAuthorities && !options.isInsecure
    authorityFile = isSilent ? first("SSL_CERT_FILE") : options.authorityFile
    authorityFolder = isSilent ? first("SSL_CERT_DIR") : options.authorityFolder
    // `HTTP_PROXY` does not count: in a program that answers web requests it is the field `Proxy` of a request.
    plainProxy = options.proxy ?? first("http_proxy", "all_proxy", "ALL_PROXY") ?? ""
    secureProxy = options.proxy ?? first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY") ?? ""
    noProxy = first("no_proxy", "NO_PROXY") ?? ""
  }

  /// The proxy for `server`; empty for none.
  func proxy(for server: ServerAddress) -> String { server.isSecure ? secureProxy : plainProxy }
}
