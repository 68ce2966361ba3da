extension CacheError {
  /// The error for a batch whose requirement on the entry under `key` did not hold.
  public static func conflict(on key: CacheKey) -> CacheError {
    CacheError(.conflict, "entry \(key) was changed by another writer", hint: "read it again and retry")
  }

  /// The error for a call to a closed engine.
  public static var storeClosed: CacheError { CacheError(.closed, "the store is closed") }
}
