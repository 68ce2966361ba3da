internal import StorageSPI

/// Detects damage to a log, which SQLite does not report: it silently ends the log at the first wrong frame, and
/// removes the rest when it closes. So check before SQLite opens the store.
enum SQLiteLogDamage {
  /// How sure the damage must be.
  enum Degree {
    /// A commit is lost: a write that a crash cut short does not explain the damage.
    case certain
    /// The log does not end with a commit.
    case possible
  }

  /// The damage to the log of the store at `path`, in one line. It is `nil` if there is none, or if a process has the
  /// store open: a log looks damaged while it is being written, and that process's view is the store.
  ///
  /// - Parameter log: the log, if it has been read already.
  static func found(at path: String, _ degree: Degree, in log: SQLiteLog? = nil) throws(CacheError) -> String? {
    let isSuspect = if let log { log.isDamaged } else { try SQLiteLog(path + "-wal").isDamaged }
    guard isSuspect else { return nil }
    do throws(CacheError) {
      let file = try SQLiteFile.locked(path, timeout: 0)
      defer { withExtendedLifetime(file) {} }
      let log = try SQLiteLog(path + "-wal")
      guard log.isDamaged else { return nil }
      // Not before this: closing the index drops this process's locks on it.
      let isDamage = try degree == .possible ? true : lacksCommit(log, path)
      return isDamage ? message(path) : nil
    } catch {
      if error.code == .busy { return nil }
      guard degree == .certain, [.permissionDenied, .ioFailed].contains(error.code) else { throw error }
      return try SQLiteLog(path + "-wal").hasCommitBehindDamage ? message(path) : nil
    }
  }

  static func message(_ path: String) -> String { "\(path)-wal is damaged: its last commits may be lost" }

  /// Whether the log once had more commits than are usable: there is one behind the damage, or the index names more. A
  /// process that has read the store since has replaced the index by one that names only what is usable.
  private static func lacksCommit(_ log: SQLiteLog, _ path: String) throws(CacheError) -> Bool {
    if log.hasCommitBehindDamage { return true }
    guard let index = try SQLiteLogIndexFile(path + "-shm"), index.salts == log.salts else { return false }
    return index.frames > log.usedFrames
  }
}

/// What the index of a log says about it, read from the index file. See "WAL-Index Header" in SQLite's documentation.
private struct SQLiteLogIndexFile {
  /// The number of frames up to the last commit.
  let frames: Int
  /// The salts of the log that it indexes.
  let salts: Int

  /// The index in the file at `path`; `nil` if there is none, or a crash left it half written.
  init?(_ path: String) throws(CacheError) {
    guard let file = try SQLitePlainFile(path), let bytes = try file.bytes(at: 0, 96), bytes[..<48] == bytes[48...],
      bytes[12] == 1, let salts = SQLiteBytes(bytes).number(at: 32, 8)
    else { return nil }
    // Its numbers are in the machine's byte order; the salts are copied from the log.
    frames = Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) })
    self.salts = salts
  }
}
