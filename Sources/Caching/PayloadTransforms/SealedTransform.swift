public import FetchVocabulary
public import CacheCore
internal import CacheBase
internal import EngineAPI

/// Seals payloads and attributes with a key: XChaCha20-Poly1305 of libsodium, which is loaded when the first transform is
/// made.
///
/// Stored are the nonce (24 bytes, random), then the ciphertext with its tag (16 bytes). The entry's key is authenticated
/// with it; with the attributes also the rest of the metadata and the tag of the payload. A sealed entry that was changed,
/// or put in the place of another one, is `damaged`. An entry that is not sealed is refused, unless the transform is made
/// with `required: false`.
///
/// Not sealed, but authenticated, is the data that the cache needs to work without the key: the keys of entries, which
/// contain the URL or the query; times and media types; the header fields that decide about caching, such as `etag` and
/// `cache-control`; the status.
public struct SealedTransform: PayloadTransform {
  /// The size of a key, in bytes.
  public static let keyBytes = Libsodium.keyBytes
  private static let nonceBytes = Libsodium.nonceBytes

  private struct Key: Sendable {
    let secret: [UInt8]
    /// Identifies the key in metadata, and says nothing else about it.
    let fingerprint: String
  }

  /// All of them open; the first one seals.
  private let keys: [Key]
  private let sodium: Libsodium

  /// Whether entries that are not sealed are refused while this transform is among those that entries are written with.
  public let isRequired: Bool

  /// Creates the transform with a key of 32 random bytes, written as 64 hexadecimal digits or in base 64.
  ///
  /// - Parameter required: whether to refuse entries that are not sealed. With `false`, anyone who can write to the store
  ///   can add entries that are served.
  /// - Throws: `CacheError` with the code `invalidOption` if that is not such a key, or libsodium cannot be loaded.
  public init(key: String, required: Bool = true) throws(CacheError) {
    try self.init(keys: [key], required: required)
  }

  /// Creates the transform with several keys: the first one seals, and all of them open. So a key can be replaced: put the
  /// new one first, and remove the old one when its entries have been stored again or have expired.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if there is no key, one of them is not a key as
  ///   `init(key:required:)` takes it, or libsodium cannot be loaded.
  public init(keys texts: [String], required: Bool = true) throws(CacheError) {
    let secrets = texts.compactMap { Self.bytes(of: $0) }
    guard secrets.count == texts.count else {
      throw CacheError(
        .invalidOption, "the key of the transform 'sealed' is not 32 bytes in hexadecimal digits or base 64",
        hint: "make one with: openssl rand -hex 32")
    }
    guard !secrets.isEmpty else {
      throw CacheError(.invalidOption, "the transform 'sealed' has no key", hint: "give it at least one")
    }
    do throws(DynamicLibrary.Failure) {
      sodium = try Libsodium.shared.get()
    } catch {
      throw CacheError(.invalidOption, "the transform 'sealed' cannot be used: \(error)", hint: error.hint)
    }
    keys = secrets.map { [sodium] in Key(secret: $0, fingerprint: Self.fingerprint(of: $0, sodium)) }
    isRequired = required
  }

  /// The key that `text` writes; `nil` if it is none.
  private static func bytes(of text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    let bytes =
      digits.count == 2 * keyBytes
      ? stride(from: 0, to: digits.count, by: 2).compactMap {
        Hexadecimal.number(digits[$0..<$0 + 2], as: UInt8.self)
      } : Base64.decoded(digits)
    return bytes?.count == keyBytes ? bytes : nil
  }

  private static func fingerprint(of secret: [UInt8], _ sodium: Libsodium) -> String {
    sodium.hash("cachectl sealed", key: secret).prefix(4).map { Hexadecimal.text($0) }.joined()
  }

  /// "sealed".
  public var name: String { "sealed" }

  /// `true`.
  public var hidesContent: Bool { true }

  /// 16: the tag of Poly1305.
  public var tagBytes: Int { Libsodium.tagBytes }

  /// Seals `bytes` with the first key, which the parameter identifies.
  public func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    let key = keys[0]
    let nonce = Self.nonce()
    let associated = Self.associated(context)
    let sealed = bytes.withUnsafeBufferPointer { bytes in
      [UInt8](unsafeUninitializedCapacity: Self.nonceBytes + bytes.count + tagBytes) { output, count in
        guard let start = output.baseAddress else { return }
        start.initialize(from: nonce, count: nonce.count)
        sodium.seal(start + nonce.count, bytes.baseAddress, bytes.count, associated, nonce: nonce, key: key.secret)
        count = nonce.count + bytes.count + tagBytes
      }
    }
    return (sealed, key.fingerprint)
  }

  /// Opens what `encode` sealed.
  ///
  /// - Throws: `CacheError`: `wrongKey` if it is sealed with another key; `damaged` if it was changed afterwards.
  public func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] {
    let candidates = keys.filter { $0.fingerprint == parameter }
    guard !candidates.isEmpty else {
      let configured = keys.map(\.fingerprint).joined(separator: ", ")
      throw CacheError(
        .wrongKey,
        "entry \(context.key) is sealed with another key: its fingerprint is \(parameter), "
          + "\(keys.count == 1 ? "the configured key's" : "those of the configured keys are") \(configured)",
        hint: "give the key that it was sealed with, or remove the entry", key: context.key.text)
    }
    let associated = Self.associated(context)
    for key in candidates {
      if let opened = open(bytes, with: key, associated) { return opened }
    }
    throw CacheError(
      .damaged, "entry \(context.key) is not authentic: it was changed or moved after it was sealed",
      key: context.key.text)
  }

  /// The content of `bytes`; `nil` if it was not sealed with `key` and `associated`.
  private func open(_ bytes: Span<UInt8>, with key: Key, _ associated: [UInt8]) -> [UInt8]? {
    let size = bytes.count - Self.nonceBytes - tagBytes
    var isOpen = false
    let opened = bytes.withUnsafeBufferPointer { bytes in
      [UInt8](unsafeUninitializedCapacity: max(size, 1)) { output, count in
        guard size >= 0, let nonce = bytes.baseAddress else { return }
        isOpen = sodium.open(
          output.baseAddress, nonce + Self.nonceBytes, size + tagBytes, associated, nonce: nonce, key: key.secret)
        count = isOpen ? size : 0
      }
    }
    return isOpen ? opened : nil
  }

  private static func nonce() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    while bytes.count < nonceBytes {
      Swift.withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// The data to authenticate with the bytes. No key contains the byte that separates it from the metadata.
  private static func associated(_ context: TransformContext) -> [UInt8] {
    Array("\(context.part.rawValue) of \(context.key)".utf8) + [0] + context.authenticated
  }
}
