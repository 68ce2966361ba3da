public import CacheDomain
public import StorageSPI

extension CacheError {
  /// The error of the domain for a failure of the storage: same code, message and hint.
  public init(_ error: StorageError) {
    self.init(Code(rawValue: error.code.rawValue), error.message, hint: error.hint, cause: error)
  }
}
