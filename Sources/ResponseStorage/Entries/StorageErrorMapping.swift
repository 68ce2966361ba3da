public import CacheDomain
public import StorageSPI

extension StorageError {
  /// Whether the error, by which a listing has ended, is about the entry under `key`: then its message names it. It may be
  /// about one before it of which not even the key can be read, and which no check can name therefore.
  func isAbout(_ key: CacheKey) -> Bool { message.contains(key.text) }
}

extension CacheError {
  /// The error of the domain for a failure of the storage: same code, message and hint.
  public init(_ error: StorageError) {
    self.init(Code(rawValue: error.code.rawValue), error.message, hint: error.hint, cause: error)
  }
}
