internal import CLMDB
internal import StorageSPI

/// The name of a namespace as 32 bytes, filled up with zeros, so that comparing two is four comparisons of words.
///
/// (A `SIMD32` would be the natural type, but its metadata costs a tenth of a millisecond at the start of a process.)
struct LMDBNamespace: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64) { (first, second, third, fourth) }
  private let first, second, third, fourth: UInt64

  /// The namespace of a key, given the key's bytes and how many of them are the namespace (32 at most).
  init(_ key: UnsafeRawBufferPointer, count: Int) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<count])) }
    (first, second, third, fourth) = words
  }

  /// The namespace of a key.
  init(_ key: CacheKey) {
    self = Array(key.text.utf8.prefix(key.namespaceLength)).withUnsafeBytes { LMDBNamespace($0, count: $0.count) }
  }

  /// The namespace called `name`; `nil` where nothing can be called that.
  init?(name: UnsafeRawBufferPointer) {
    guard CacheKey.isNamespace(String(decoding: name, as: UTF8.self)) else { return nil }
    self.init(name, count: name.count)
  }

  /// The namespace without a name, which nothing is in.
  static let none = LMDBNamespace(UnsafeRawBufferPointer(start: nil, count: 0), count: 0)

  /// The longest name, in bytes.
  static let size = CacheKey.maximumNamespaceLength

  /// The number of bytes of the name.
  var length: Int { withUnsafeBytes(of: words) { bytes in bytes.firstIndex(of: 0) ?? Self.size } }

  /// Writes the name, filled up with zeros to 32 bytes, at `offset` of `room`.
  func write(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
    room.storeBytes(of: words, toByteOffset: offset, as: (UInt64, UInt64, UInt64, UInt64).self)
  }

  /// The name.
  var name: String {
    withUnsafeBytes(of: words) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// What a transaction for writing needs of a namespace.
struct LMDBNamespaceUse {
  let namespace: LMDBNamespace
  /// Whether its database is made where there is none.
  var creates: Bool
}

/// A namespace and LMDB's handle of its database, which is valid as long as the environment.
struct LMDBDatabase: Sendable {
  let namespace: LMDBNamespace
  let handle: MDB_dbi
}
