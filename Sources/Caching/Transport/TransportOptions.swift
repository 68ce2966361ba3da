/// How a transport reaches servers.
public struct TransportOptions: Sendable, Hashable {
  /// How long connecting may take, including the name look-up and TLS; `nil` for libcurl's 300 seconds.
  public var connectTimeout: Duration?
  /// How long the server may send nothing while its answer is awaited or read, in whole seconds and at least one; `nil`
  /// for no limit.
  public var idleTimeout: Duration?
  /// How long a whole transfer may take, including the time its reader spends between reads; `nil` for no limit.
  public var totalTimeout: Duration?
  /// The URL of the proxy (`http`, `https`, `socks5h`, ...), which may contain credentials; empty for no proxy. `nil`
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
  /// The most bytes of one response that may wait for their reader, apart from the 64 KiB handed over at once. When
  /// there are as many, reading from the connection stops until half of them have been taken.
  public var bufferSize = 1024 * 1024

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

  /// Creates the default options: no time limits, and the proxy and certificates of the environment.
  public init() {}
}
