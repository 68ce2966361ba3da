internal import Platform
internal import StorageSPI

extension CacheError {
  /// A system call that failed with the error `code`: `action` says what it was to do to the file at `path`.
  static func system(_ code: Int32, _ action: String, _ path: String) -> CacheError {
    let (kind, hint): (Code, String) =
      switch code {
      case ENOSPC, EDQUOT: (.noSpace, "free some space, then try again")
      case EACCES, EPERM, EROFS: (.permissionDenied, "check the owner and permissions of the directory")
      case EFBIG: (.tooLarge, "")
      default: (.ioFailed, "")
      }
    return CacheError(kind, "cannot \(action) \(path): \(String(cString: strerror(code)))", hint: hint)
  }

  /// The error for a file whose content this engine cannot have written.
  static func damagedFile(_ path: String, _ reason: String) -> CacheError {
    CacheError(.damaged, "\(path) is damaged: \(reason)")
  }

  /// The error for a file of the format version `version`, which is later than this one.
  static func laterFormat(_ path: String, _ version: Int) -> CacheError {
    CacheError(
      .unsupportedFormat,
      "\(path): format version \(version) is newer than \(PlistFormat.version), the newest known here",
      hint: "use a newer version of this program")
  }

  /// The error for a store that other handles use so much that it cannot be locked within `timeout`.
  static func busy(_ path: String, after timeout: Duration) -> CacheError {
    CacheError(
      .busy, "cannot lock \(path) within \(timeout): other processes are using it",
      hint: "try again, or raise option 'busyTimeout' of backend plist")
  }
}
