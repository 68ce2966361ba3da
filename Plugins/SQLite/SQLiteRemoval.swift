internal import StorageSPI

/// Removes stores, whatever their state. It writes nothing, so it works on a full disk.
enum SQLiteRemoval {
  /// Removes the database and the files beside it.
  static func run(_ options: SQLiteOptions) throws(CacheError) {
    let path = SQLiteFiles.resolved(options.path)
    let folder = SQLiteFiles.folder(of: path)
    guard SQLiteFiles.exists(folder) else { return }
    try SQLiteFiles.withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
      guard try SQLiteFiles.isRegularFile(path) else { return }
      let file = try SQLiteFile.locked(path, timeout: options.busyTimeout)
      try SQLiteMarks(try SQLitePages(file, log: path + "-wal")).requireStore(path)
      // The database goes first: if a log is left without one, creating the next store removes it.
      for suffix in [""] + SQLiteFiles.companions { try SQLiteFiles.removeIfPresent(path + suffix) }
      withExtendedLifetime(file) {}
    }
  }
}
