public import HTTPCaching
internal import Platform
package import StorageSPI

extension CredentialKey {
  /// The key in the file at `path`. Whoever needs it first creates it, with the folders above it, for the user alone.
  public convenience init(file path: String) {
    self.init { () throws(CacheError) in
      if let key = try CredentialKeyFile.read(path) { return key }
      try CredentialKeyFile.create(path)
      guard let key = try CredentialKeyFile.read(path) else { throw CredentialKeyFile.failure(path) }
      return key
    }
  }

  /// The key for the store at `location`: in a file next to it, named after it. A store without a path has the key of
  /// the process.
  package convenience init(of location: StorageLocation) {
    guard let path = location.path else {
      self.init { () throws(CacheError) in CredentialKey.random() }
      return
    }
    self.init(file: "\(path).key")
  }
}

/// A file that holds nothing but a key.
private enum CredentialKeyFile {
  /// The key in the file; `nil` if there is no file.
  static func read(_ path: String) throws(CacheError) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: CredentialKey.length + 1) { buffer, filled in
      count = Platform.read(file, buffer.baseAddress, buffer.count)
      filled = max(0, count)
    }
    guard count >= 0 else { throw failure(path) }
    guard bytes.count == CredentialKey.length else {
      throw CacheError(
        .ioFailed, "\(path) does not hold a key that tells credentials apart",
        hint: "move it away: a new one is created, and responses to requests with credentials are fetched again")
    }
    return bytes
  }

  /// Creates the file whole, unless another process is faster.
  static func create(_ path: String) throws(CacheError) {
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), 0o700) }
    let temporary = "\(path).\(UInt64.random(in: .min ... .max))"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(path) }
    defer { unlink(temporary) }
    let key = CredentialKey.random()
    let written = key.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    let isWhole = written == key.count && fsync(file) == 0
    guard close(file) == 0, isWhole else { throw failure(path) }
    guard link(temporary, path) == 0 || errno == EEXIST else {
      // Some file systems have no links.
      guard rename(temporary, path) == 0 else { throw failure(path) }
      return
    }
  }

  /// The failure for the current `errno`.
  static func failure(_ path: String) -> CacheError {
    let number = errno
    return CacheError(
      [EACCES, EPERM, EROFS].contains(number) ? .permissionDenied : number == ENOSPC ? .noSpace : .ioFailed,
      "\(path), the key that tells credentials apart, cannot be used: \(String(cString: strerror(number)))",
      hint: "check its permissions and the free space")
  }
}
