/// How a transport reaches servers.
public struct TransportOptions: Sendable, Hashable {
  /// How long connecting may take, with the look-up of the name and TLS; `nil` for libcurl's 300 seconds.
  public var connectTimeout: Duration?
  /// How long the server may send nothing, in whole seconds and at least one, while its answer is waited for or read;
  /// `nil` for no limit.
  public var idleTimeout: Duration?
  /// How long a whole transfer may take, with the time in which its reader does not read; `nil` for no limit.
  public var totalTimeout: Duration?
  /// The URL of the proxy (`http`, `https`, `socks5h`, ...; it may hold credentials), or an empty text for none. With
  /// `nil` it is that of the environment: `http_proxy`, `https_proxy`, `all_proxy`, the latter two also in capitals.
  /// Servers in `no_proxy` are reached without one in any case.
  public var proxy: String?
  /// A file of certificates (PEM) to trust. With this or `authorityFolder` no others are trusted; with neither,
  /// `SSL_CERT_FILE` takes the place of the system's file, and `SSL_CERT_DIR` of its folder.
  public var authorityFile: String?
  /// A folder of certificates to trust, as OpenSSL's `rehash` makes it.
  public var authorityFolder: String?
  /// The certificate by which servers may know the client, where a request has a `clientIdentity`.
  public var clientCertificate: ClientCertificate?
  /// Whether servers need not prove who they are.
  public var isInsecure = false
  /// How many bytes of one response wait for their reader at most, but for the 64 KiB that are handed over at once. When
  /// there are as many, nothing more is read from the connection until half of them were taken.
  public var bufferSize = 1024 * 1024

  /// A client's certificate and its private key.
  public struct ClientCertificate: Sendable, Hashable {
    /// The path of the certificate (PEM).
    public var file: String
    /// The path of its private key (PEM, not encrypted); `nil` where it is in the same file.
    public var keyFile: String?

    /// The certificate in the given files.
    public init(file: String, keyFile: String? = nil) {
      self.file = file
      self.keyFile = keyFile
    }
  }

  /// The usual: no limits of time, and what the environment says.
  public init() {}
}
