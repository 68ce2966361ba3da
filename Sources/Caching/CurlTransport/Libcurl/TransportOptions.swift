/// How a transfer service reaches servers.
public struct TransportOptions: Sendable, Hashable {
  /// The URL of the proxy (`http`, `https`, `socks5h`, ...), which can contain credentials; empty for no proxy. `nil`
  /// means the environment's: `http_proxy`, `https_proxy` or `all_proxy`, the latter two also in capitals. Servers in
  /// `no_proxy` are always reached without a proxy.
  public var proxy: String?
  /// A file of trusted certificates (PEM). If this or `authorityFolder` is set, no others are trusted. If neither is,
  /// `SSL_CERT_FILE` replaces the system's file, and `SSL_CERT_DIR` its folder.
  public var authorityFile: String?
  /// A folder of trusted certificates, as OpenSSL's `rehash` creates it.
  public var authorityFolder: String?
  /// The client's certificate, shown to servers if the request has a `clientIdentity`.
  public var clientCertificate: ClientCertificate?
  /// Whether to accept servers without verifying their identity.
  public var isInsecure = false
  /// The only kind of addresses to connect to; `nil` for any.
  public var addressFamily: AddressFamily?
  /// How long a connection may take, if the timeout of the service is for each wait; `nil` for that timeout.
  public var connectTimeout: Duration?

  /// A version of the Internet Protocol.
  public enum AddressFamily: Sendable {
    /// IPv4.
    case ipv4
    /// IPv6.
    case ipv6
  }

  /// A client's certificate and its private key.
  public struct ClientCertificate: Sendable, Hashable {
    /// The path of the certificate (PEM).
    public var file: String
    /// The path of its private key (PEM, not encrypted); `nil` if it is in the same file.
    public var keyFile: String?

    /// Creates a certificate from its files.
    public init(file: String, keyFile: String? = nil) {
      self.file = file
      self.keyFile = keyFile
    }
  }

  /// Creates the default options: the proxy and certificates of the environment.
  public init() {}
}

/// The settings from the limits, the options and the environment together.
struct NetworkSettings: Sendable {
  let limits: TransferLimits
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
  init(_ limits: TransferLimits, _ options: TransportOptions, environment: (String) -> String?) {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap(environment).first { !$0.isEmpty }
    }
    self.limits = limits
    self.options = options
    hasAuthorities = options.authorityFile != nil || options.authorityFolder != nil
    let isSilent = !hasAuthorities && !options.isInsecure
    authorityFile = isSilent ? first("SSL_CERT_FILE") : options.authorityFile
    authorityFolder = isSilent ? first("SSL_CERT_DIR") : options.authorityFolder
    // Ignore `HTTP_PROXY`: in a program that serves web requests, it is the `Proxy` field of a request.
    plainProxy = options.proxy ?? first("http_proxy", "all_proxy", "ALL_PROXY") ?? ""
    secureProxy = options.proxy ?? first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY") ?? ""
    noProxy = first("no_proxy", "NO_PROXY") ?? ""
  }

  /// The proxy for `server`; empty for none.
  func proxy(for server: ServerAddress) -> String { server.isSecure ? secureProxy : plainProxy }
}
