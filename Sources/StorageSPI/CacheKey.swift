/// The canonical name of an entry, the same on every engine.
///
/// A key is printable ASCII of the form `namespace/rest`. The namespace is the resource ("cities", "movies"); the rest
/// is made by the core out of a key-scheme version and the request's parameters, sorted and percent-encoded, for
/// example `cities/v1/order=revenue/origin=sample/page=0/sort=desc`. Nothing in it means anything to a shell, so that
/// it can be typed as an argument without quotes.
///
/// Because only ASCII is allowed, the order of keys is the order of their bytes on every engine. Because a namespace
/// holds nothing below `/` in ASCII, the order of whole keys is the order of namespaces, then of the rest.
public struct CacheKey: Sendable, Hashable {
  /// The longest key, in bytes. An engine whose own limit is smaller shortens the key by itself, reversibly.
  public static let maximumLength = 16_384

  /// The longest namespace, in bytes.
  public static let maximumNamespaceLength = 32

  /// The whole key, `namespace/rest`; always contiguous ASCII.
  public let text: String

  /// The number of bytes of `text` before the first slash.
  public let namespaceLength: Int

  /// Accepts `text` if it is a key, as described above.
  ///
  /// - Throws: `StorageError` with the code `invalidKey` that says what is wrong with it.
  public init(_ text: String) throws(StorageError) {
    var text = text
    text.makeContiguousUTF8()
    self.namespaceLength = try Self.validatedNamespaceLength(of: text.utf8.span)
    self.text = text
  }

  /// Accepts the UTF-8 of a text, likewise. Cost: one copy, for which the bytes are looked at once.
  ///
  /// - Throws: `StorageError` with the code `invalidKey` that says what is wrong with it.
  public init(_ bytes: Span<UInt8>) throws(StorageError) {
    self.namespaceLength = try Self.validatedNamespaceLength(of: bytes)
    // All bytes are printable ASCII.
    self.text = String(copying: UTF8Span(unchecked: bytes, isKnownASCII: true))
  }

  /// The key whose text has the bytes `bytes`, as somebody else has made sure of already. Cost: one copy.
  ///
  /// Of bytes that are no key it makes a key that no engine has an entry under.
  public init(trusting bytes: Span<UInt8>) {
    self.text = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    self.namespaceLength = Self.namespaceLength(in: bytes)
  }

  /// The number of bytes before the first slash in the bytes of a key's text, at most `maximumNamespaceLength`; 0 where
  /// they are no key's.
  @inlinable public static func namespaceLength(in bytes: Span<UInt8>) -> Int {
    var index = 0
    while index < bytes.count, index <= maximumNamespaceLength {
      if bytes[index] == UInt8(ascii: "/") { return index }
      index += 1
    }
    return 0
  }

  /// The part before the first slash, which an engine may use as the name of a file, table or database.
  public var namespace: String { String(Substring(text.utf8.prefix(namespaceLength))) }

  /// Whether `name` can be a namespace: a lower-case letter, then lower-case letters and digits.
  public static func isNamespace(_ name: some StringProtocol) -> Bool {
    let bytes = Array(name.utf8)
    return isNamespace(bytes.span)
  }

  private static func validatedNamespaceLength(of bytes: Span<UInt8>) throws(StorageError) -> Int {
    let length = namespaceLength(in: bytes)
    guard isNamespace(bytes.extracting(0..<length)) else {
      let text = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      throw StorageError(.invalidKey, "'\(text)' is no key: it must begin with a namespace and a slash, like cities/")
    }
    guard bytes.count <= maximumLength, length + 1 < bytes.count else {
      throw StorageError(.invalidKey, "a key has 1 to \(maximumLength) bytes after its namespace and slash")
    }
    guard isPrintable(bytes.extracting(length..<bytes.count)) else {
      throw StorageError(.invalidKey, "a key is printable ASCII without spaces: percent-encode everything else")
    }
    return length
  }

  private static func isNamespace(_ bytes: Span<UInt8>) -> Bool {
    guard !bytes.isEmpty, bytes.count <= maximumNamespaceLength, isLowercase(bytes[0]) else { return false }
    for index in bytes.indices where !isLowercase(bytes[index]) && !isDigit(bytes[index]) { return false }
    return true
  }

  /// Without a branch for each byte, so that many are looked at at once.
  private static func isPrintable(_ bytes: Span<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      bytes.reduce(UInt8(0)) { $0 | ($1 &- 0x21 > 0x7E - 0x21 ? 1 : 0) } == 0
    }
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension CacheKey: Comparable {
  /// Orders keys by their bytes.
  public static func < (left: CacheKey, right: CacheKey) -> Bool { left.text < right.text }
}

extension CacheKey: CustomStringConvertible {
  /// The key's text.
  public var description: String { text }
}
