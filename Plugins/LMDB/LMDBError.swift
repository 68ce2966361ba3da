internal import CLMDB
internal import Glibc
internal import StorageSPI

/// A status of LMDB (a negative number) or of the operating system (an `errno`): what lies behind a `StorageError`.
struct LMDBStatus: Error, Sendable, Hashable, CustomStringConvertible {
  let code: Int32

  var description: String { String(cString: mdb_strerror(code)) }
}

/// Something in a store that cannot be what was written, before it is known where.
enum LMDBFault: Error, Hashable {
  /// What is wrong, in a few words.
  case damaged(String)
  /// A format of a later version than this engine reads.
  case laterVersion(UInt32)
}

extension StorageError {
  /// What a status means to the caller of an engine.
  ///
  /// - Parameters:
  ///   - status: what LMDB or the operating system reported.
  ///   - action: what was attempted, as in "cannot ...".
  ///   - path: the store's folder.
  static func lmdb(_ status: Int32, _ action: String, path: String) -> StorageError {
    // A write that was cut short, as by a full disk, is EIO to LMDB.
    let status = LMDBStatus(code: status == EIO && LMDBFile.isDiskFull(at: path) ? ENOSPC : status)
    let (code, hint) = meaning(of: status.code)
    return StorageError(code, "cannot \(action) the LMDB store \(path) (\(status))", hint: hint, cause: status)
  }

  private static func meaning(of code: Int32) -> (Code, hint: String) {
    switch code {
    case MDB_CORRUPTED, MDB_INVALID, MDB_PAGE_NOTFOUND, MDB_PANIC, MDB_INCOMPATIBLE, MDB_BAD_TXN:
      (.damaged, damagedHint)
    // What mapping a folder fails with.
    case ENODEV, EISDIR: (.damaged, "something else is in the place of a file of the store: move it away")
    case MDB_VERSION_MISMATCH: (.unsupportedFormat, "use a cachectl built with the LMDB version that made it")
    case MDB_MAP_FULL, ENOMEM: (.noSpace, "free address space: raise the limit of virtual memory (ulimit -v)")
    case ENOSPC, EDQUOT, EFBIG: (.noSpace, "free space on the disk, or compact or bound the cache")
    case EACCES, EPERM, EROFS: (.permissionDenied, "check the owner and the permissions of the folder and its files")
    case MDB_BAD_VALSIZE, MDB_TXN_FULL, MDB_PAGE_FULL, MDB_CURSOR_FULL:
      (.tooLarge, "store less at once")
    case MDB_DBS_FULL: (.tooLarge, "a store holds at most \(LMDBEnvironment.maximumNamespaces) namespaces")
    case MDB_READERS_FULL, MDB_TLS_FULL, EBUSY, EAGAIN: (.busy, "try again when fewer processes use the store")
    case EIO, EMFILE, ENFILE, ENOTDIR, ENOENT: (.ioFailed, "check the folder and the disk it is on")
    default: (.failed, "")
    }
  }

  static let damagedHint = "run: cachectl verify --repair"

  /// The error of a fault found in the file or entry called `place`.
  static func lmdb(_ fault: LMDBFault, in place: String) -> StorageError {
    switch fault {
    case .damaged(let what): StorageError(.damaged, "\(place) is damaged: \(what)", hint: damagedHint, cause: fault)
    case .laterVersion(let version):
      StorageError(
        .unsupportedFormat, "\(place) is of format version \(version), which this version does not read",
        hint: "use a newer cachectl", cause: fault)
    }
  }

  /// The error of work that needs a store to itself which somebody has open.
  static func lmdbStoreInUse(_ path: String) -> StorageError {
    StorageError(
      .busy, "the LMDB store \(path) is in use, and cannot be repaired meanwhile",
      hint: "end the processes that have it open, then try again")
  }

  /// The error of a data file that was put in the place of one that somebody has open.
  static func lmdbStoreReplaced(_ path: String) -> StorageError {
    StorageError(
      .busy, "the LMDB store \(path) was replaced while it was in use",
      hint: "end the processes that have it open, then try again")
  }

  /// Whether a commit may have failed for want of room: a quota or a limit of the size of files also cuts writes short.
  var isWantOfRoom: Bool { code == .noSpace || lmdbStatus == EIO }

  /// The status of LMDB behind the error, where there is one.
  var lmdbStatus: Int32? { (cause as? LMDBStatus)?.code }
}
