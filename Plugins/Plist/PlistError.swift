internal import Platform
internal import StorageSPI

extension SystemError {
  /// Whether the file or folder does not exist.
  var isAbsence: Bool { code == ENOENT }

  /// The system's error text.
  var text: String {
    var buffer = [CChar](repeating: 0, count: 128)
    guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  fileprivate var storageCode: CacheError.Code {
    switch code {
    case ENOSPC, EDQUOT: .noSpace
    case EACCES, EPERM, EROFS: .permissionDenied
    case EFBIG: .tooLarge
    default: .ioFailed
    }
  }

  fileprivate var hint: String {
    switch storageCode {
    case .noSpace: "free some space, then try again"
    case .permissionDenied: "check the owner and permissions of the folder"
    default: ""
    }
  }
}

extension CacheError {
  /// A failed system call: `action` says what it was to do to the file at `path`.
  init(_ error: SystemError, action: String, path: String) {
    self.init(error.storageCode, "cannot \(action) \(path): \(error.text)", hint: error.hint, cause: error)
  }

  /// A failure to create the store's folder.
  static func cannotMakeFolder(_ path: String, _ reason: String, cause: SystemError? = nil) -> CacheError {
    CacheError(
      .cannotCreate, "cannot make the folder \(path): \(reason)", hint: "choose another path for the store",
      cause: cause)
  }

  /// The error for a file that this engine cannot have written.
  init(_ problem: PlistFormatError, path: String) {
    switch problem.kind {
    case .damaged:
      self.init(.damaged, "\(path) is damaged: \(problem.message)", cause: problem)
    case .newerFormat:
      self.init(.unsupportedFormat, "\(path): \(problem.message)", hint: "use a newer version of this program")
    }
  }

  /// Whether a file's content is not what this engine writes.
  var isOfContent: Bool { code == .damaged || code == .unsupportedFormat }

  /// The error for a store that other handles use so much that it cannot be locked, or read, within `timeout`.
  static func busy(_ action: String, _ path: String, after timeout: Duration) -> CacheError {
    CacheError(
      .busy, "cannot \(action) \(path) within \(timeout): other processes are using it",
      hint: "try again, or raise option 'busyTimeout' of backend plist")
  }
}

/// What is wrong in a file's content.
struct PlistFormatError: Error {
  enum Kind: Sendable { case damaged, newerFormat }

  var kind = Kind.damaged
  /// What is wrong, in one line.
  var message: String
  /// The affected entry, if known.
  var key: CacheKey?

  /// `text` as shown in messages: quoted, shortened, and without unprintable characters.
  static func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(60).map { scalar in
      scalar.properties.isWhitespace || scalar.properties.generalCategory == .control ? " " : Character(scalar)
    }
    return "'\(String(shown))\(shown.count < text.unicodeScalars.count ? "..." : "")'"
  }
}

extension PlistFormatError {
  /// The error for a file of the format version `format`, which is later than this one.
  init(laterFormat format: Int) {
    self.init(
      kind: .newerFormat,
      message: "format version \(format) is newer than \(PlistDecoder.format), the newest known here")
  }
}
