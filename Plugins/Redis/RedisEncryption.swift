internal import CRedis
internal import CacheBase
internal import EngineAPI

/// How connections are encrypted: by TLS 1.2 or later, with OpenSSL.
///
/// `@unchecked Sendable`: the context does not change after its initialization, and OpenSSL lets any number of threads
/// make sessions of it.
final class RedisEncryption: @unchecked Sendable {
  private let openSSL: credis_openssl
  private let context: OpaquePointer

  /// Reads the certificates.
  ///
  /// - Parameters:
  ///   - authority: the file of the certificates that are trusted; `nil` for those that the system trusts.
  ///   - certificate: the file of the certificate that this client shows, with its chain; `nil` for none.
  ///   - key: the file of that certificate's private key; `nil` if it is in the same file.
  /// - Throws: `CacheError` with the code `invalidOption` if a file cannot be used.
  init(authority: String?, certificate: String?, key: String?) throws(CacheError) {
    let openSSL = try RedisLibraries.openSSL.get()
    guard let context = openSSL.SSL_CTX_new(openSSL.TLS_client_method()),
      openSSL.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1
    else { throw CacheError(.failed, "OpenSSL cannot be used: \(openSSL.reason)") }
    self.openSSL = openSSL
    self.context = context
    _ = openSSL.SSL_CTX_set_options(context, credis_no_renegotiation)
    openSSL.SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    // Otherwise OpenSSL asks the terminal for the password of a key.
    openSSL.SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
    if let authority {
      guard openSSL.SSL_CTX_load_verify_locations(context, authority, nil) == 1 else {
        throw unusable("ca", authority)
      }
    } else {
      _ = openSSL.SSL_CTX_set_default_verify_paths(context)
    }
    guard let certificate else { return }
    guard openSSL.SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
      throw unusable("certificate", certificate)
    }
    let key = key ?? certificate
    guard openSSL.SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
      throw unusable("certificateKey", key)
    }
  }

  deinit { openSSL.SSL_CTX_free(context) }

  /// A session with the server called `host`, whose certificate must be of that name or address.
  func session(with host: String) throws(RedisBreak) -> RedisTLSSession {
    try RedisTLSSession(openSSL.SSL_new(context), openSSL, host)
  }

  private func unusable(_ option: String, _ path: String) -> CacheError {
    let reason = access(path, R_OK) == 0 ? openSSL.reason : String(cString: strerror(errno))
    return CacheError(
      .invalidOption, "option '\(option)': \(path) cannot be used: \(reason)",
      hint: "give a file in the format PEM that this user can read, and a key without a password")
  }

  /// The hint for a server that does not respond to a handshake.
  static let plainHint = "write redis:// in place of rediss:// in the option url if this port does not encrypt"
}

extension credis_openssl {
  /// Why the last call of this thread failed.
  fileprivate var reason: String {
    defer { ERR_clear_error() }
    guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return "no reason given" }
    return String(cString: text)
  }
}

/// The encryption of one connection. It only turns bytes into bytes: the connection sends and receives them.
final class RedisTLSSession {
  private let openSSL: credis_openssl
  private let session: OpaquePointer
  private let received: OpaquePointer
  private let output: OpaquePointer
  private var room = [UInt8](repeating: 0, count: 16_384)

  /// Takes ownership of `session`, which is `nil` if there was no memory for it.
  fileprivate init(_ session: OpaquePointer?, _ openSSL: credis_openssl, _ host: String) throws(RedisBreak) {
    guard let session, let received = openSSL.BIO_new(openSSL.BIO_s_mem()),
      let output = openSSL.BIO_new(openSSL.BIO_s_mem())
    else { throw RedisBreak("there is no memory for TLS") }
    openSSL.SSL_set_bio(session, received, output)
    self.openSSL = openSSL
    self.session = session
    self.received = received
    self.output = output
    openSSL.SSL_set_connect_state(session)
    openSSL.SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    if openSSL.X509_VERIFY_PARAM_set1_ip_asc(openSSL.SSL_get0_param(session), host) == 1 { return }
    let hasName = host.withCString { name in
      let name = UnsafeMutableRawPointer(mutating: name)
      return openSSL.SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), name) == 1
    }
    guard hasName, openSSL.SSL_set1_host(session, host) == 1 else {
      throw RedisBreak("no certificate can have the name \(host)")
    }
  }

  deinit { openSSL.SSL_free(session) }  // Frees its buffers too.

  /// Continues the handshake, as far as the received bytes allow, and returns whether it has ended.
  ///
  /// - Throws: `RedisBreak` if the server's certificate is not trusted, or the server speaks no TLS.
  func shakeHands() throws(RedisBreak) -> Bool {
    openSSL.ERR_clear_error()
    let result = openSSL.SSL_do_handshake(session)
    if result == 1 { return true }
    if openSSL.SSL_get_error(session, result) == SSL_ERROR_WANT_READ { return false }
    let verdict = openSSL.SSL_get_verify_result(session)
    if verdict != Int(X509_V_OK) {
      let reason = openSSL.X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "no reason given"
      throw RedisBreak(
        "its certificate is not trusted: \(reason)",
        hint: "see the option ca; the option url must name the server as its certificate does")
    }
    throw RedisBreak("no encrypted connection: \(openSSL.reason)", hint: RedisEncryption.plainHint)
  }

  /// Encrypts `bytes`; `takeOutput` has the result.
  func write(_ bytes: UnsafeRawBufferPointer) throws(RedisBreak) {
    guard !bytes.isEmpty else { return }
    openSSL.ERR_clear_error()
    var written = 0
    guard openSSL.SSL_write_ex(session, bytes.baseAddress, bytes.count, &written) == 1, written == bytes.count else {
      throw failure
    }
  }

  /// Takes the bytes that must be sent to the server.
  func takeOutput() -> [UInt8] {
    let count = openSSL.BIO_ctrl_pending(output)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, Int(count == 0 ? 0 : openSSL.BIO_read(output, buffer.baseAddress, Int32(clamping: count))))
    }
  }

  /// Takes what the server has sent.
  func receive(_ bytes: UnsafeRawBufferPointer) {
    // A buffer in memory takes whatever fits there.
    _ = openSSL.BIO_write(received, bytes.baseAddress, Int32(clamping: bytes.count))
  }

  /// Decrypts the received bytes, and calls `body` with one piece after another.
  func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(RedisBreak) {
    while true {
      openSSL.ERR_clear_error()
      var count = 0
      let result = room.withUnsafeMutableBytes { openSSL.SSL_read_ex(session, $0.baseAddress, $0.count, &count) }
      guard result == 1 else {
        // The server can end the connection after its last reply: then the socket says so next.
        if [SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN].contains(openSSL.SSL_get_error(session, result)) { return }
        throw failure
      }
      room.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  private var failure: RedisBreak { RedisBreak("the encrypted connection has ended: \(openSSL.reason)") }
}
