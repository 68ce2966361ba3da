extension StorageError {
  /// The error for a batch whose requirement on the entry under `key` did not hold.
  public static func conflict(on key: CacheKey) -> StorageError {
    StorageError(.conflict, "entry \(key) was changed by another writer", hint: "read it again and retry")
  }

  /// The error for a call to a closed engine.
  public static var storeClosed: StorageError { StorageError(.closed, "the store is closed") }
}
