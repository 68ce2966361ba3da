internal import CSQLite
internal import EngineAPI

/// SQLite's own error: the cause of a `CacheError`.
struct SQLiteFailure: Error, CustomStringConvertible {
  /// The extended result code, as documented by SQLite.
  let code: Int32
  /// SQLite's message.
  let message: String

  var description: String { "SQLite \(code): \(message)" }
}

extension CacheError {
  /// The error for the result `code` of a call on the database at `path`.
  init(sqlite code: Int32, message: String, path: String) {
    let (kind, hint): (Code, String) =
      switch code & 0xFF {
      case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: (.damaged, "")
      // A table or column is missing although the version is ours: something else removed it.
      case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT: (.damaged, "")
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
        (.busy, "another process holds the store: try again, or raise option 'busyTimeout' of backend sqlite")
      case SQLITE_FULL: (.noSpace, "make room on the file system")
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
        (.permissionDenied, "check the permissions of the file and its directory")
      case SQLITE_TOOBIG: (.tooLarge, "SQLite holds at most 1,000,000,000 bytes in one entry")
      // SQLITE_IOERR_SHORT_READ: the file has been cut off.
      case SQLITE_IOERR where code >> 8 == 2: (.damaged, "")
      case SQLITE_IOERR, SQLITE_CANTOPEN:
        (.ioFailed, "check the file system, and that the file and its directory can be read and written")
      default: (.failed, "")
      }
    self.init(kind, "\(path): \(message)", hint: hint, cause: SQLiteFailure(code: code, message: message))
  }

  /// The error for a row that this engine cannot have written, or that SQLite cannot read.
  static func undecodable(_ what: String, key: String, path: String) -> CacheError {
    CacheError(.damaged, "\(path): entry \(key): \(what)", cause: (try? CacheKey(key)).map { UnreadableEntry($0) })
  }

  /// The error for a store of a version that this program does not read.
  static func otherVersion(_ version: Int64, path: String) -> CacheError {
    CacheError(
      .unsupportedFormat,
      "\(path): has format version \(version), and this program reads version \(SQLiteSchema.version)",
      hint: "use the version that wrote it; if there is none, the file is damaged: move it away")
  }
}
