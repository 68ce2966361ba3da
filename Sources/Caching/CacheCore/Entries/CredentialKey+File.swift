package import EngineAPI

extension CredentialKey {
  /// The key in the file at `path`. If there is no file, it is created with its parent folders; only the user can read it.
  public convenience init(file path: String) {
    self.init { () throws(CacheError) in
      do throws(CacheError) {
        if let key = try Self.read(path) { return key }
        if let slash = path.lastIndex(of: "/") { try StoreFiles().makeDirectory(String(path[..<slash])) }
        try StoreFiles().create(path, Self.random())
        if let key = try Self.read(path) { return key }
        throw .system(ENOENT, "read", path)
      } catch {
        // It is neither damage of the store, nor a store that cannot be created.
        let code: CacheError.Code = [.permissionDenied, .noSpace].contains(error.code) ? error.code : .ioFailed
        throw CacheError(
          code, "the key that tells credentials apart cannot be used: \(error.message)", hint: error.hint, cause: error)
      }
    }
  }

  /// The key for the store at `location`: in a file next to it, named after it. A store without a path has the key of
  /// the process.
  package convenience init(of location: StorageLocation) {
    guard let path = (try? location.configuration(SystemWallClock()))?.path else {
      self.init { () throws(CacheError) in CredentialKey.random() }
      return
    }
    self.init(file: "\(path).key")
  }

  /// The key in a file that holds nothing else; `nil` if there is no file.
  private static func read(_ path: String) throws(CacheError) -> [UInt8]? {
    // One byte more, to notice a longer file.
    guard let (_, _, bytes) = try StoreFiles().read(path, atMost: length + 1) else { return nil }
    guard bytes.count == length else {
      throw CacheError(
        .ioFailed, "\(path) does not hold one",
        hint: "move it away: a new one is created, and responses to requests with credentials are fetched again")
    }
    return bytes
  }
}
