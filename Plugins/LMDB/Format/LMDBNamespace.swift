internal import CLMDB
internal import StorageSPI

/// A namespace's name as 32 bytes, padded with zeros, so that a comparison takes four words.
///
/// (`SIMD32` would be the natural type, but its metadata costs a tenth of a millisecond at process start.)
struct LMDBNamespace: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64) { (first, second, third, fourth) }
  private let first, second, third, fourth: UInt64

  /// The namespace of a key, from the key's bytes and the namespace's length (32 at most).
  init(_ key: UnsafeRawBufferPointer, count: Int) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<count])) }
    (first, second, third, fourth) = words
  }

  /// The namespace of `key`.
  init(_ key: CacheKey) {
    self = Array(key.text.utf8.prefix(key.namespaceLength)).withUnsafeBytes { LMDBNamespace($0, count: $0.count) }
  }

  /// The namespace called `name`; `nil` if that cannot be a namespace.
  init?(name: UnsafeRawBufferPointer) {
    guard CacheKey.isNamespace(String(decoding: name, as: UTF8.self)) else { return nil }
    self.init(name, count: name.count)
  }

  /// The namespace without a name, which contains nothing.
  static let none = LMDBNamespace(UnsafeRawBufferPointer(start: nil, count: 0), count: 0)

  /// The longest name, in bytes.
  static let size = CacheKey.maximumNamespaceLength

  /// The length of the name, in bytes.
  var length: Int { withUnsafeBytes(of: words) { bytes in bytes.firstIndex(of: 0) ?? Self.size } }

  /// Writes the name, padded with zeros to 32 bytes, at `offset` of `room`.
  func write(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
    room.storeBytes(of: words, toByteOffset: offset, as: (UInt64, UInt64, UInt64, UInt64).self)
  }

  /// The name.
  var name: String {
    withUnsafeBytes(of: words) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// A write transaction's need of a namespace.
struct LMDBNamespaceUse {
  let namespace: LMDBNamespace
  /// Whether to create its database if there is none.
  var creates: Bool
}

/// A namespace and LMDB's handle of its database, which is valid for the environment's lifetime.
struct LMDBDatabase: Sendable {
  let namespace: LMDBNamespace
  let handle: MDB_dbi
}
