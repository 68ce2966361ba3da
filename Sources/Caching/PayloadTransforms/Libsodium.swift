internal import CacheBase

/// The functions of libsodium that the transform `sealed` uses. Their types are written here, because they have not changed
/// since 2013, and a build then needs no header of libsodium.
struct Libsodium: Sendable {
  typealias Input = UnsafePointer<UInt8>
  typealias Output = UnsafeMutablePointer<UInt8>

  /// The sizes, in bytes, of XChaCha20-Poly1305.
  static let keyBytes = 32
  static let nonceBytes = 24
  static let tagBytes = 16

  private let sealing:
    @convention(c) @Sendable (
      Output?, UnsafeMutablePointer<UInt64>?, Input?, UInt64, Input?, UInt64, Input?, Input?, Input?
    ) -> Int32
  private let opening:
    @convention(c) @Sendable (
      Output?, UnsafeMutablePointer<UInt64>?, Output?, Input?, UInt64, Input?, UInt64, Input?, Input?
    ) -> Int32
  private let hashing: @convention(c) @Sendable (Output?, Int, Input?, UInt64, Input?, Int) -> Int32

  /// libsodium, loaded and initialized by the first use.
  static let shared = Result { () throws(DynamicLibrary.Failure) in try Libsodium() }

  private init() throws(DynamicLibrary.Failure) {
    let library = try DynamicLibrary("libsodium", versions: ["23", "26"], package: "libsodium23")
    sealing = try library.function("crypto_aead_xchacha20poly1305_ietf_encrypt")
    opening = try library.function("crypto_aead_xchacha20poly1305_ietf_decrypt")
    hashing = try library.function("crypto_generichash")
    let initialize: @convention(c) () -> Int32 = try library.function("sodium_init")
    guard initialize() >= 0 else { throw DynamicLibrary.Failure("libsodium", "fails to initialize") }
  }

  /// Encrypts `size` bytes of `message` into `sealed`, which has room for the tag too. `context` is authenticated with it.
  func seal(_ sealed: Output, _ message: Input?, _ size: Int, _ context: [UInt8], nonce: Input, key: [UInt8]) {
    _ = sealing(sealed, nil, message, UInt64(size), context, UInt64(context.count), nil, nonce, key)
  }

  /// Decrypts `size` bytes of `sealed`, of which the last are the tag, into `message`.
  ///
  /// - Returns: `false` if they were not sealed with this key, nonce and context.
  func open(_ message: Output?, _ sealed: Input, _ size: Int, _ context: [UInt8], nonce: Input, key: [UInt8]) -> Bool {
    opening(message, nil, nil, sealed, UInt64(size), context, UInt64(context.count), nonce, key) == 0
  }

  /// The 16 bytes of BLAKE2b of `text` under `key`.
  func hash(_ text: String, key: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: 16)
    let bytes = Array(text.utf8)
    _ = hashing(&hash, hash.count, bytes, UInt64(bytes.count), key, key.count)
    return hash
  }
}
