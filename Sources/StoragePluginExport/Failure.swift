internal import CCachectlPlugin
internal import StorageSPI

/// Calls `body` and returns the code that it returns, or that of its error, which is written to `failure`.
@inline(__always)
func reporting(
  to failure: UnsafeMutablePointer<cachectl_failure>?, _ body: () throws(StorageError) -> Int32
) -> Int32 {
  do throws(StorageError) { return try body() } catch { return error.write(to: failure) }
}

extension cachectl_code {
  /// The code as functions return it.
  var status: Int32 { Int32(bitPattern: rawValue) }
}

extension StorageError {
  /// Writes the message and the hint, and returns the code.
  @inline(never)
  func write(to failure: UnsafeMutablePointer<cachectl_failure>?) -> Int32 {
    if let failure {
      withUnsafeMutableBytes(of: &failure.pointee.message) { Self.write(message, to: $0) }
      withUnsafeMutableBytes(of: &failure.pointee.hint) { Self.write(hint, to: $0) }
    }
    return (Self.codes[code] ?? CACHECTL_FAILED).status
  }

  /// What the interface has a number for. All else is a failure without a name there, whose message is kept.
  private static let codes: [Code: cachectl_code] = [
    .invalidOption: CACHECTL_INVALID_OPTION, .damaged: CACHECTL_DAMAGED,
    .unsupportedFormat: CACHECTL_UNSUPPORTED_FORMAT, .cannotCreate: CACHECTL_CANNOT_CREATE,
    .permissionDenied: CACHECTL_PERMISSION_DENIED, .noSpace: CACHECTL_NO_SPACE, .ioFailed: CACHECTL_IO_FAILED,
    .busy: CACHECTL_BUSY, .unreachable: CACHECTL_UNREACHABLE, .conflict: CACHECTL_CONFLICT,
    .tooLarge: CACHECTL_TOO_LARGE, .overBounds: CACHECTL_OVER_BOUNDS, .unsupported: CACHECTL_UNSUPPORTED,
    .cancelled: CACHECTL_CANCELLED,
  ]

  /// Copies as much of `text` as there is room for with a zero byte, in whole characters of UTF-8.
  private static func write(_ text: String, to room: UnsafeMutableRawBufferPointer) {
    let bytes = Array(text.utf8)
    var count = min(bytes.count, room.count - 1)
    while count > 0, count < bytes.count, bytes[count] & 0xC0 == 0x80 { count -= 1 }
    room.copyBytes(from: bytes[..<count])
    room[count] = 0
  }
}
