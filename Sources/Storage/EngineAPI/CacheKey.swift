/// The canonical name of an entry, the same on every engine.
///
/// A key is printable ASCII of the form `namespace/rest`. The namespace is the resource ("cities", "movies"). The core
/// builds the rest from a key-scheme version and the request's parameters, sorted and percent-encoded, for example
/// `cities/v1/order=revenue/origin=sample/page=0/sort=desc`. No character in it is special to a shell, so users can
/// type a key without quotes.
///
/// Since keys are ASCII, every engine orders them by their bytes. Since a namespace has no character below `/`, whole
/// keys sort by namespace first, then by the rest.
public struct CacheKey: Sendable, Hashable {
  /// The longest key, in bytes. An engine with a smaller limit shortens keys itself, reversibly.
  public static let maximumLength = 16_384

  /// The longest namespace, in bytes.
  public static let maximumNamespaceLength = 32

  /// The whole key, `namespace/rest`; always contiguous ASCII.
  public let text: String

  /// The number of bytes of `text` before the first slash.
  public let namespaceLength: Int

  /// Accepts `text` if it is a key, as described above.
  ///
  /// - Throws: `CacheError` with the code `invalidKey`, which says what is wrong with the text.
  public init(_ text: String) throws(CacheError) {
    var text = text
    text.makeContiguousUTF8()
    self.namespaceLength = try Self.validatedNamespaceLength(of: text.utf8.span)
    self.text = text
  }

  /// Accepts UTF-8 bytes in the same way. Cost: one pass over the bytes and one copy.
  ///
  /// - Throws: `CacheError` with the code `invalidKey`, which says what is wrong with the bytes.
  public init(_ bytes: Span<UInt8>) throws(CacheError) {
    self.namespaceLength = try Self.validatedNamespaceLength(of: bytes)
    // All bytes are printable ASCII.
    self.text = String(copying: UTF8Span(unchecked: bytes, isKnownASCII: true))
  }

  /// The key with the text `bytes`, which the caller has already validated. Cost: one copy.
  ///
  /// If the bytes are not a valid key, neither is the result, and no engine has an entry under it.
  public init(trusting bytes: Span<UInt8>) {
    self.text = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    self.namespaceLength = Self.namespaceLength(in: bytes)
  }

  /// The number of bytes before the first slash of a key's text, at most `maximumNamespaceLength`; 0 if `bytes` is not
  /// a key.
  @inlinable public static func namespaceLength(in bytes: Span<UInt8>) -> Int {
    var index = 0
    while index < bytes.count, index <= maximumNamespaceLength {
      if bytes[index] == UInt8(ascii: "/") { return index }
      index += 1
    }
    return 0
  }

  /// The part before the first slash. An engine can use it to name a file, table or database.
  public var namespace: String { String(Substring(text.utf8.prefix(namespaceLength))) }

  /// The keys that belong together: the text after the namespace's slash, up to the first comma, or all of it.
  ///
  /// An entry, the lease of the request that fetches it, and the other variants of its URL are in one group. An engine that
  /// spreads keys over several servers must keep each group on one of them, and make a batch of one group all or nothing,
  /// whether it has the capability `atomicBatches` or not.
  public var group: Substring.UTF8View { text[...].utf8.dropFirst(namespaceLength + 1).prefix { $0 != Self.groupEnd } }

  /// The byte that ends the group in the text of a key. Percent-encoding hides it in the names and values of parameters.
  private static let groupEnd = UInt8(ascii: ",")

  /// Whether `name` can be a namespace: a lowercase letter, then lowercase letters and digits.
  public static func isNamespace(_ name: some StringProtocol) -> Bool {
    let bytes = Array(name.utf8)
    return isNamespace(bytes.span)
  }

  private static func validatedNamespaceLength(of bytes: Span<UInt8>) throws(CacheError) -> Int {
    let length = namespaceLength(in: bytes)
    guard isNamespace(bytes.extracting(0..<length)) else {
      let text = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      throw CacheError(.invalidKey, "'\(text)' is not a key: it must begin with a namespace and a slash, like cities/")
    }
    guard bytes.count <= maximumLength, length + 1 < bytes.count else {
      throw CacheError(.invalidKey, "a key has 1 to \(maximumLength) bytes after its namespace and slash")
    }
    guard isPrintable(bytes.extracting(length..<bytes.count)) else {
      throw CacheError(.invalidKey, "a key is printable ASCII without spaces: percent-encode everything else")
    }
    return length
  }

  private static func isNamespace(_ bytes: Span<UInt8>) -> Bool {
    guard !bytes.isEmpty, bytes.count <= maximumNamespaceLength, isLowercase(bytes[0]) else { return false }
    for index in bytes.indices where !isLowercase(bytes[index]) && !bytes[index].isASCIIDigit { return false }
    return true
  }

  /// Has no branch per byte, so that the compiler can vectorize it.
  private static func isPrintable(_ bytes: Span<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      bytes.reduce(UInt8(0)) { $0 | ($1 &- 0x21 > 0x7E - 0x21 ? 1 : 0) } == 0
    }
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}

extension CacheKey: Comparable {
  /// Orders keys by their bytes.
  public static func < (left: CacheKey, right: CacheKey) -> Bool { left.text < right.text }
}

extension CacheKey: CustomStringConvertible {
  /// The key's text.
  public var description: String { text }
}
