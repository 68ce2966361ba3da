internal import CLMDB
internal import EngineAPI
internal import CacheBase

/// A status of LMDB (a negative number) or of the operating system (an `errno`): the cause of a `CacheError`.
struct LMDBStatus: Error, Sendable, Hashable, CustomStringConvertible {
  let code: Int32

  var description: String { String(cString: mdb_strerror(code)) }
}

extension CacheError {
  /// The error that an engine throws for a status.
  ///
  /// - Parameters:
  ///   - status: the status that LMDB or the operating system reported.
  ///   - action: what failed, to follow "cannot".
  ///   - path: the store's directory.
  static func lmdb(_ status: Int32, _ action: String, path: String) -> CacheError {
    // LMDB reports a write that was cut short, such as by a full disk, as EIO.
    let status = LMDBStatus(code: status == EIO && LMDBFiles.system.isFull(at: path) ? ENOSPC : status)
    let (code, hint) = meaning(of: status.code)
    return CacheError(code, "cannot \(action) the LMDB store \(path) (\(status))", hint: hint, cause: status)
  }

  private static func meaning(of code: Int32) -> (Code, hint: String) {
    switch code {
    case MDB_CORRUPTED, MDB_INVALID, MDB_PAGE_NOTFOUND, MDB_PANIC, MDB_INCOMPATIBLE, MDB_BAD_TXN, MDB_CURSOR_FULL,
      MDB_PAGE_FULL:
      return (.damaged, "")
    // The errors for mapping a directory.
    case ENODEV, EISDIR: return (.damaged, "something else is in the place of a file of the store: move it away")
    case MDB_VERSION_MISMATCH: return (.unsupportedFormat, "use the LMDB version that made it")
    case MDB_MAP_FULL, ENOMEM: return (.noSpace, "free address space: raise the limit of virtual memory (ulimit -v)")
    case MDB_BAD_VALSIZE, MDB_TXN_FULL: return (.tooLarge, "store less at once")
    case MDB_DBS_FULL: return (.tooLarge, "a store holds at most \(LMDBEnvironment.maximumNamespaces) namespaces")
    case MDB_READERS_FULL, MDB_TLS_FULL, EBUSY, EAGAIN: return (.busy, "try again when fewer processes use the store")
    case ..<0: return (.failed, "")
    default:
      let error = CacheError.system(code, "", "")
      return (error.code, error.hint)
    }
  }

  /// The error for damage in the file or directory `place`; `what` is wrong.
  static func damagedLMDB(_ place: String, _ what: String) -> CacheError {
    CacheError(.damaged, "\(place) is damaged: \(what)")
  }

  /// The error for the entry under `key`, which cannot be read back because `what` is wrong.
  static func unreadable(_ key: CacheKey, _ what: String = "it cannot be decoded") -> CacheError {
    CacheError(.damaged, "entry \(key) is damaged: \(what)", cause: UnreadableEntry(key))
  }

  /// The error for a store that must be closed everywhere first.
  ///
  /// - Parameter what: the problem, in words that follow the store's path.
  static func lmdbStoreInUse(
    _ path: String, _ what: String = "is in use, and can be neither removed nor moved meanwhile"
  ) -> CacheError {
    CacheError(
      .busy, "the LMDB store \(path) \(what)", hint: "end the processes that have it open, then try again")
  }

  /// The error for a data file that has replaced one that is still open.
  static func lmdbStoreReplaced(_ path: String) -> CacheError {
    .lmdbStoreInUse(path, "was replaced while it was in use")
  }

  /// Whether a commit might have failed for lack of room: a quota or a file size limit also cuts writes short.
  var isWantOfRoom: Bool { code == .noSpace || lmdbStatus == EIO }

  /// The LMDB status that caused the error, if there is one.
  var lmdbStatus: Int32? { (cause as? LMDBStatus)?.code }
}
