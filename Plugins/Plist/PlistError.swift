#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif
internal import StorageSPI

extension SystemError {
  /// Whether the operating system refuses access, for now or for good.
  var isRefusal: Bool { [EACCES, EPERM, EROFS].contains(code) }

  /// Whether there is nothing of that name.
  var isAbsence: Bool { code == ENOENT }

  /// The system's words for it.
  var text: String {
    var buffer = [CChar](repeating: 0, count: 128)
    guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  fileprivate var storageCode: StorageError.Code {
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

extension StorageError {
  /// The failure of the system call that was to `action` the file at `path`.
  init(_ error: SystemError, action: String, path: String) {
    self.init(error.storageCode, "cannot \(action) \(path): \(error.text)", hint: error.hint, cause: error)
  }

  /// The failure to make the folder of the store.
  static func cannotMakeFolder(_ path: String, _ reason: String, cause: SystemError? = nil) -> StorageError {
    StorageError(
      .cannotCreate, "cannot make the folder \(path): \(reason)", hint: "choose another path for the store",
      cause: cause)
  }

  /// The error of a file that is not as this engine writes it.
  init(_ problem: PlistFormatError, path: String) {
    switch problem.kind {
    case .damaged:
      self.init(
        .damaged, "\(path) is damaged: \(problem.message)",
        hint: "run: cachectl verify --repair (an entry is changed by export, an editor and import)",
        cause: problem)
    case .newerFormat:
      self.init(.unsupportedFormat, "\(path): \(problem.message)", hint: "use a newer version of this program")
    }
  }

  /// Whether a file's content is not as this engine writes it.
  var isOfContent: Bool { code == .damaged || code == .unsupportedFormat }

  /// The error of a store that another handle holds for too long.
  static func busy(_ path: String, after timeout: Duration) -> StorageError {
    StorageError(
      .busy, "another process has held \(path) for more than \(timeout)", hint: "try again, or raise busyTimeout")
  }
}

/// What is wrong with the content of a file, and where.
struct PlistFormatError: Error {
  enum Kind: Sendable { case damaged, newerFormat }

  var kind = Kind.damaged
  /// What, in one line, and where once `located` has added it.
  var message: String
  /// Where in the content, in bytes from its beginning.
  var offset: Int?
  /// The entry concerned, where it is known.
  var key: CacheKey?

  /// The error with the line and column of its place in `bytes`. Cost: a pass over what comes before it.
  func located(in bytes: [UInt8]) -> PlistFormatError {
    guard let offset else { return self }
    let before = bytes[..<min(offset, bytes.count)]
    let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
    var error = self
    error.message = "line \(line), column \(column): \(message)"
    return error
  }

  /// `text` as a message shows it: in quotes, the beginning where it is long, and nothing that is no letter or sign.
  static func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(60).map { scalar in
      scalar.properties.isWhitespace || scalar.properties.generalCategory == .control ? " " : Character(scalar)
    }
    return "'\(String(shown))\(shown.count < text.unicodeScalars.count ? "..." : "")'"
  }
}
