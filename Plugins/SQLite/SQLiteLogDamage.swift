internal import StorageSPI

/// Damage to a log, which SQLite does not report: it ends the log at the first wrong frame without a word, and on closing it
/// removes what lies behind. So this is to be asked before SQLite opens the store.
enum SQLiteLogDamage {
  /// What counts as damage.
  enum Degree {
    /// What is not known to be the end of a write that a crash has cut short: a commit is lost.
    case certain
    /// Every log that does not end with a commit.
    case possible
  }

  /// What is wrong with the log of the store at `path`, in one line; `nil` where nothing is, or where a process has the
  /// store open: a log looks damaged while it is written, and what that process sees is the store.
  ///
  /// - Parameter log: the log, where it was read already.
  static func found(at path: String, _ degree: Degree, in log: SQLiteLog? = nil) throws(StorageError) -> String? {
    let isSuspect = if let log { log.isDamaged } else { try SQLiteLog(path + "-wal").isDamaged }
    guard isSuspect else { return nil }
    do throws(StorageError) {
      let file = try SQLiteFile.locked(path, timeout: 0)
      defer { withExtendedLifetime(file) {} }
      let log = try SQLiteLog(path + "-wal")
      guard log.isDamaged else { return nil }
      // Only now: to close the index takes the locks on it from this process.
      let isDamage = try degree == .possible ? true : lacksCommit(log, path)
      return isDamage ? message(path) : nil
    } catch {
      if error.code == .busy { return nil }
      guard degree == .certain, [.permissionDenied, .ioFailed].contains(error.code) else { throw error }
      return try SQLiteLog(path + "-wal").hasCommitBehindDamage ? message(path) : nil
    }
  }

  static func message(_ path: String) -> String { "\(path)-wal is damaged: its last commits may be lost" }

  /// Whether the log once had more commits than are used: by its index, where a process that was killed has left it, else
  /// by what lies behind the damage.
  private static func lacksCommit(_ log: SQLiteLog, _ path: String) throws(StorageError) -> Bool {
    guard let index = try SQLiteLogIndexFile(path + "-shm"), index.salts == log.salts else {
      return log.hasCommitBehindDamage
    }
    return index.frames > log.usedFrames
  }
}

/// What the index of a log says of it, read from its file. See "WAL-Index Header" in SQLite's documentation.
private struct SQLiteLogIndexFile {
  /// The number of frames up to the last commit.
  let frames: Int
  /// Those of the log that it is the index of.
  let salts: Int

  /// The index in the file at `path`; `nil` where there is none, or a crash has left it half written.
  init?(_ path: String) throws(StorageError) {
    guard let file = try SQLitePlainFile(path), let bytes = try file.bytes(at: 0, 96), bytes[..<48] == bytes[48...],
      bytes[12] == 1, let salts = SQLiteBytes(bytes).number(at: 32, 8)
    else { return nil }
    // Its numbers are in the order of the machine; the salts are copied out of the log.
    frames = Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) })
    self.salts = salts
  }
}
