internal import COpenSSL
internal import Platform
internal import StorageSPI

/// How connections are encrypted: by TLS 1.2 or later, with OpenSSL.
///
/// `@unchecked Sendable`: the context does not change after its initialization, and OpenSSL lets any number of threads
/// make sessions of it.
final class RedisEncryption: @unchecked Sendable {
  private let context: OpaquePointer

  /// Reads the certificates.
  ///
  /// - Parameters:
  ///   - authority: the file of the certificates that are trusted; `nil` for those that the system trusts.
  ///   - certificate: the file of the certificate that this client shows, with its chain; `nil` for none.
  ///   - key: the file of that certificate's private key; `nil` if it is in the same file.
  /// - Throws: `CacheError` with the code `invalidOption` if a file cannot be used.
  init(authority: String?, certificate: String?, key: String?) throws(CacheError) {
    // At the end of the process a thread may still be using OpenSSL.
    OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    guard let context = SSL_CTX_new(TLS_client_method()), copenssl_require_tls_1_2(context) == 1 else {
      throw CacheError(.failed, "OpenSSL cannot be used: \(Self.reason)")
    }
    self.context = context
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    // Otherwise OpenSSL asks the terminal for the password of a key.
    SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
    if let authority {
      guard SSL_CTX_load_verify_file(context, authority) == 1 else { throw Self.unusable("ca", authority) }
    } else {
      SSL_CTX_set_default_verify_paths(context)
    }
    guard let certificate else { return }
    guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
      throw Self.unusable("certificate", certificate)
    }
    let key = key ?? certificate
    guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
      throw Self.unusable("certificateKey", key)
    }
  }

  deinit { SSL_CTX_free(context) }

  /// A session with the server called `host`, whose certificate must be of that name or address; `nil` if there is no
  /// memory for one.
  func session(with host: String) -> RedisTLSSession? {
    guard let handle = SSL_new(context) else { return nil }
    guard let session = RedisTLSSession(handle) else { return nil }
    SSL_set_connect_state(handle)
    SSL_set_hostflags(handle, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host) != 1 {
      guard SSL_set1_host(handle, host) == 1, copenssl_set_server_name(handle, host) == 1 else { return nil }
    }
    return session
  }

  private static func unusable(_ option: String, _ path: String) -> CacheError {
    let reason = access(path, R_OK) == 0 ? reason : String(cString: strerror(errno))
    return CacheError(
      .invalidOption, "option '\(option)': \(path) cannot be used: \(reason)",
      hint: "give a file in the format PEM that this user may read, and a key without a password")
  }

  /// What to do about a server that does not answer a handshake.
  static let plainHint = "write redis:// in place of rediss:// in the option url if this port does not encrypt"

  /// Why OpenSSL's last call of this thread failed.
  fileprivate static var reason: String {
    defer { ERR_clear_error() }
    guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return "no reason given" }
    return String(cString: text)
  }
}

/// The encryption of one connection. It only turns bytes into bytes: the connection sends and receives them.
final class RedisTLSSession {
  private let session: OpaquePointer
  private let received: OpaquePointer
  private let output: OpaquePointer
  private var room = [UInt8](repeating: 0, count: 16_384)

  /// `nil` if there is no memory for the buffers; `session` is freed in any case.
  fileprivate init?(_ session: OpaquePointer) {
    guard let received = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
      SSL_free(session)
      return nil
    }
    SSL_set_bio(session, received, output)
    (self.session, self.received, self.output) = (session, received, output)
  }

  deinit { SSL_free(session) }  // Frees its buffers too.

  /// Goes on with the handshake, as far as what was received allows, and returns whether it has ended.
  ///
  /// - Throws: `RedisDisconnection.refused` if the server's certificate is not trusted, or the server speaks no TLS.
  func shakeHands() throws(RedisDisconnection) -> Bool {
    ERR_clear_error()
    let result = SSL_do_handshake(session)
    if result == 1 { return true }
    if SSL_get_error(session, result) == SSL_ERROR_WANT_READ { return false }
    let verdict = SSL_get_verify_result(session)
    if verdict != Int(X509_V_OK) {
      throw .refused(
        "its certificate is not trusted: \(String(cString: X509_verify_cert_error_string(verdict)))",
        hint: "see the option ca; the option url must name the server as its certificate does")
    }
    throw .refused("no encrypted connection: \(RedisEncryption.reason)", hint: RedisEncryption.plainHint)
  }

  /// Encrypts `bytes`; `takeOutput` has the result.
  func write(_ bytes: UnsafeRawBufferPointer) throws(RedisDisconnection) {
    guard !bytes.isEmpty else { return }
    ERR_clear_error()
    var written = 0
    guard SSL_write_ex(session, bytes.baseAddress, bytes.count, &written) == 1, written == bytes.count else {
      throw failure
    }
  }

  /// What has to be sent to the server.
  func takeOutput() -> [UInt8] {
    let count = copenssl_pending(output)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, Int(count == 0 ? 0 : BIO_read(output, buffer.baseAddress, Int32(clamping: count))))
    }
  }

  /// Takes what the server has sent.
  func receive(_ bytes: UnsafeRawBufferPointer) {
    // A buffer in memory takes whatever fits there.
    BIO_write(received, bytes.baseAddress, Int32(clamping: bytes.count))
  }

  /// Calls `body` with what was received, decrypted, piece by piece.
  func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(RedisDisconnection) {
    while true {
      ERR_clear_error()
      var count = 0
      let result = room.withUnsafeMutableBytes { SSL_read_ex(session, $0.baseAddress, $0.count, &count) }
      guard result == 1 else {
        // The server may end the connection after its last reply: then the socket says so next.
        if [SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN].contains(SSL_get_error(session, result)) { return }
        throw failure
      }
      room.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  private var failure: RedisDisconnection { .broken("the encrypted connection has ended: \(RedisEncryption.reason)") }
}
