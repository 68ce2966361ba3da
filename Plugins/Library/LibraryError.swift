internal import CCachectlPlugin
internal import StorageSPI

/// A rule of the interface that a library broke: what it did, as the rest of a sentence that starts with its name.
struct LibraryDefect: Error {
  let text: String

  init(_ text: String) { self.text = text }
}

extension CacheError {
  /// The error for a call in which the backend `name` broke a rule of the interface.
  static func defect(_ text: String, of name: String) -> CacheError {
    CacheError(
      .failed, "backend \(name) \(text)",
      hint: "this is a defect of its library: the conformance suite may find more of them", cause: LibraryDefect(text))
  }

  /// The error for an eviction by the backend `name`, which does not evict.
  static func notEvicting(_ name: String) -> CacheError {
    CacheError(.unsupported, "backend \(name) chooses no entries to evict")
  }

  /// The error for a read of several entries by the backend `name`, which reads them one by one.
  static func notReadingBatches(_ name: String) -> CacheError {
    CacheError(.unsupported, "backend \(name) reads one entry at a time")
  }

  /// Whether the library broke a rule of the interface, as opposed to reporting a failure.
  var isDefectOfLibrary: Bool { cause is LibraryDefect }

  /// The error for a batch whose changes may or may not have been made.
  var notingUnknownChanges: CacheError {
    CacheError(
      code, "\(message); whether the changes were made is not known",
      hint: "look at the entries before you try again; \(hint)", cause: cause)
  }

  /// The error that a function of the backend `name` reported by returning `status`, which is not `CACHECTL_OK`.
  static func reported(_ status: Int32, _ failure: UnsafePointer<cachectl_failure>, by name: String) -> CacheError {
    guard let code = Code(status: status) else {
      return .defect("returned \(status), which is no code of the interface", of: name)
    }
    let (message, hint) = LibraryText.texts(of: failure)
    return CacheError(code, message.isEmpty ? "backend \(name) failed without a reason" : message, hint: hint)
  }
}

extension CacheError.Code {
  /// The code with the number `status` in `cachectl_plugin.h`; `nil` if the number is not defined there.
  fileprivate init?(status: Int32) {
    guard let number = UInt32(exactly: status) else { return nil }
    switch cachectl_code(rawValue: number) {
    case CACHECTL_FAILED: self = .failed
    case CACHECTL_INVALID_OPTION: self = .invalidOption
    case CACHECTL_DAMAGED: self = .damaged
    case CACHECTL_UNSUPPORTED_FORMAT: self = .unsupportedFormat
    case CACHECTL_CANNOT_CREATE: self = .cannotCreate
    case CACHECTL_PERMISSION_DENIED: self = .permissionDenied
    case CACHECTL_NO_SPACE: self = .noSpace
    case CACHECTL_IO_FAILED: self = .ioFailed
    case CACHECTL_BUSY: self = .busy
    case CACHECTL_UNREACHABLE: self = .unreachable
    case CACHECTL_CONFLICT: self = .conflict
    case CACHECTL_TOO_LARGE: self = .tooLarge
    case CACHECTL_OVER_BOUNDS: self = .overBounds
    case CACHECTL_UNSUPPORTED: self = .unsupported
    case CACHECTL_CANCELLED: self = .cancelled
    default: return nil
    }
  }
}

extension LibraryText {
  /// The message and the hint that a library has filled in, each as one line.
  static func texts(of failure: UnsafePointer<cachectl_failure>) -> (message: String, hint: String) {
    let bytes = UnsafeRawBufferPointer(start: failure, count: MemoryLayout<cachectl_failure>.size)
    let messageSize = MemoryLayout.size(ofValue: failure.pointee.message)
    return (
      cleaned(UnsafeRawBufferPointer(rebasing: bytes[..<messageSize])),
      cleaned(UnsafeRawBufferPointer(rebasing: bytes[messageSize...]))
    )
  }
}
