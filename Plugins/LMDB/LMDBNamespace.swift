internal import CLMDB
internal import StorageSPI

/// The name of a namespace as 32 bytes, filled up with zeros, so that comparing two is one vector instruction.
struct LMDBNamespace: Sendable, Hashable {
  private let bytes: SIMD32<UInt8>

  /// The namespace of a key, given the key's bytes and how many of them are the namespace (32 at most).
  init(_ key: UnsafeRawBufferPointer, count: Int) {
    var bytes = SIMD32<UInt8>()
    withUnsafeMutableBytes(of: &bytes) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<count])) }
    self.bytes = bytes
  }

  /// The namespace called `name`; `nil` where nothing can be called that.
  init?(name: UnsafeRawBufferPointer) {
    guard CacheKey.isNamespace(String(decoding: name, as: UTF8.self)) else { return nil }
    self.init(name, count: name.count)
  }

  /// The name.
  var name: String { String(decoding: (0..<32).lazy.map { bytes[$0] }.prefix { $0 != 0 }, as: UTF8.self) }
}

/// A namespace and LMDB's handle of its database, which is valid as long as the environment.
struct LMDBDatabase: Sendable {
  let namespace: LMDBNamespace
  let handle: MDB_dbi
}
