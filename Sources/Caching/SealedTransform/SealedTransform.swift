internal import CSodium
public import FetchVocabulary
public import ResponseStorage
internal import StorageSPI

/// Seals payloads, attributes and dictionaries with a key: XChaCha20-Poly1305 of libsodium, which is loaded when the first
/// transform is made.
///
/// What is stored is the nonce (24 bytes, random), then the ciphertext with its tag (16 bytes). The entry's key is
/// authenticated with it, so that no entry can take the place of another one.
///
/// Not sealed is what the cache needs to work without the key: the keys of entries, which contain what was asked for;
/// times, media types and sizes; the header fields that decide about caching, such as `etag` and `cache-control`; the
/// status.
public struct SealedTransform: PayloadTransform {
  /// The size of a key, in bytes.
  public static let keyBytes = csodium_key_bytes
  private static let nonceBytes = csodium_nonce_bytes
  private static let tagBytes = csodium_tag_bytes

  private let secret: [UInt8]
  /// Identifies the key in metadata, and says nothing else about it.
  private let fingerprint: String
  private let random: @Sendable () -> UInt64

  /// Creates the transform with a key of 32 random bytes, written as 64 hexadecimal digits or in base 64.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if that is not such a key, or libsodium cannot be loaded.
  public init(key text: String) throws(CacheError) {
    guard let secret = Self.bytes(of: text), secret.count == Self.keyBytes else {
      throw CacheError(
        .invalidOption, "the key of the transform 'sealed' is not 32 bytes in hexadecimal digits or base 64",
        hint: "make one with: openssl rand -hex 32")
    }
    try self.init(secret: secret) {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }

  /// Creates the transform with a key of 32 bytes, and nonces made of what `random` returns.
  init(secret: [UInt8], random: @escaping @Sendable () -> UInt64) throws(CacheError) {
    if let reason = csodium_load() {
      throw CacheError(
        .invalidOption, "the transform 'sealed' cannot be used: \(String(cString: reason))",
        hint: "install libsodium, \(Self.installation)")
    }
    (self.secret, self.random) = (secret, random)
    fingerprint = Self.fingerprint(of: secret)
  }

  #if os(macOS)
    private static let installation = "with: brew install libsodium"
  #else
    private static let installation = "on Debian and Ubuntu with: sudo apt-get install libsodium23"
  #endif

  private static func bytes(of text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 2 * keyBytes else { return Base64.decoded(digits) }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = Hexadecimal.number(digits[index..<index + 2], as: UInt8.self) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func fingerprint(of secret: [UInt8]) -> String {
    var hash = [UInt8](repeating: 0, count: 16)
    let text = Array("cachectl sealed".utf8)
    csodium_hash(&hash, text, text.count, secret)
    return hash.prefix(4).map { Hexadecimal.text($0) }.joined()
  }

  /// "sealed".
  public var name: String { "sealed" }

  /// `true`.
  public var hidesContent: Bool { true }

  /// Seals `bytes`; the parameter identifies the key.
  public func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    let (nonce, associated) = (nonce(), Self.associated(context))
    let sealed = bytes.withUnsafeBufferPointer { bytes in
      [UInt8](unsafeUninitializedCapacity: Self.nonceBytes + bytes.count + Self.tagBytes) { output, count in
        guard let start = output.baseAddress else { return }
        start.initialize(from: nonce, count: nonce.count)
        csodium_seal(
          start + nonce.count, bytes.baseAddress, bytes.count, associated, associated.count, nonce, secret)
        count = nonce.count + bytes.count + Self.tagBytes
      }
    }
    return (sealed, fingerprint)
  }

  /// Opens what `encode` sealed.
  ///
  /// - Throws: `CacheError`: `wrongKey` if it is sealed with another key; `damaged` if it is not what was sealed.
  public func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] {
    guard parameter == fingerprint else {
      throw CacheError(
        .wrongKey,
        "entry \(context.key) is sealed with another key: its fingerprint is \(parameter), the configured key's \(fingerprint)",
        hint: "give the key that it was sealed with, or remove the entry", key: context.key.text)
    }
    let (size, associated) = (bytes.count - Self.nonceBytes - Self.tagBytes, Self.associated(context))
    var isOpen = false
    let opened = bytes.withUnsafeBufferPointer { bytes in
      [UInt8](unsafeUninitializedCapacity: max(size, 0)) { output, count in
        guard size >= 0, let nonce = bytes.baseAddress else { return }
        isOpen =
          csodium_open(
            output.baseAddress, nonce + Self.nonceBytes, size + Self.tagBytes, associated, associated.count, nonce,
            secret)
          == 0
        count = isOpen ? size : 0
      }
    }
    guard isOpen else {
      throw CacheError(
        .damaged, "entry \(context.key) is not what was sealed: it was changed or moved afterwards",
        key: context.key.text)
    }
    return opened
  }

  private func nonce() -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < Self.nonceBytes {
      Swift.withUnsafeBytes(of: random()) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// What is authenticated with the bytes.
  private static func associated(_ context: TransformContext) -> [UInt8] {
    Array("\(context.part.rawValue) of \(context.key)".utf8)
  }
}
