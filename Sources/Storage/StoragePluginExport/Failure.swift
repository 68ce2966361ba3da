internal import CCachectlPlugin
internal import StorageSPI

/// Calls `body` and returns its code; if it throws, writes the error to `failure` and returns the error's code.
@inline(__always)
func reporting(
  to failure: UnsafeMutablePointer<cachectl_failure>?, _ body: () throws(CacheError) -> Int32
) -> Int32 {
  do throws(CacheError) { return try body() } catch { return error.write(to: failure) }
}

extension cachectl_code {
  /// The code as a function result.
  var status: Int32 { Int32(bitPattern: rawValue) }
}

extension CacheError {
  /// Writes the message and the hint, and returns the code.
  @inline(never)
  func write(to failure: UnsafeMutablePointer<cachectl_failure>?) -> Int32 {
    if let failure {
      withUnsafeMutableBytes(of: &failure.pointee.message) { Self.write(message, to: $0) }
      withUnsafeMutableBytes(of: &failure.pointee.hint) { Self.write(hint, to: $0) }
    }
    return (Self.codes[code] ?? CACHECTL_FAILED).status
  }

  /// The codes that the interface defines. Every other failure becomes the unnamed one, with its message.
  private static let codes: [Code: cachectl_code] = [
    .invalidOption: CACHECTL_INVALID_OPTION, .damaged: CACHECTL_DAMAGED,
    .unsupportedFormat: CACHECTL_UNSUPPORTED_FORMAT, .cannotCreate: CACHECTL_CANNOT_CREATE,
    .permissionDenied: CACHECTL_PERMISSION_DENIED, .noSpace: CACHECTL_NO_SPACE, .ioFailed: CACHECTL_IO_FAILED,
    .busy: CACHECTL_BUSY, .unreachable: CACHECTL_UNREACHABLE, .conflict: CACHECTL_CONFLICT,
    .tooLarge: CACHECTL_TOO_LARGE, .overBounds: CACHECTL_OVER_BOUNDS, .unsupported: CACHECTL_UNSUPPORTED,
    .cancelled: CACHECTL_CANCELLED,
  ]

  /// Copies as much of `text` as fits before a zero byte, in whole UTF-8 characters.
  private static func write(_ text: String, to room: UnsafeMutableRawBufferPointer) {
    let bytes = Array(text.utf8)
    var count = min(bytes.count, room.count - 1)
    while count > 0, count < bytes.count, bytes[count] & 0xC0 == 0x80 { count -= 1 }
    room.copyBytes(from: bytes[..<count])
    room[count] = 0
  }
}
