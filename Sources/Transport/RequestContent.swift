internal import Glibc

/// The content of a request.
public enum RequestContent: Sendable {
  /// These bytes.
  case bytes([UInt8])
  /// What `next` returns until it returns `nil`, of `length` bytes in all; without a length it is sent in chunks.
  ///
  /// `next` is called when the connection can take more, in a task of its own, which is cancelled when the response has
  /// ended. The content cannot be sent again, so that it goes over a new connection.
  case stream(length: Int?, next: @Sendable () async throws -> [UInt8]?)

  /// The content of the file at `path`, which is read as it is sent; in chunks where it is a pipe or a device.
  ///
  /// - Throws: `TransportError` with the code `content` where it cannot be opened for reading.
  public static func file(_ path: String) throws(TransportError) -> RequestContent {
    let file = try ContentFile(path)
    return .stream(length: file.length) { try file.next() }
  }
}

/// A file that is open for reading, and closed with the last reference.
private final class ContentFile: Sendable {
  private static let pieceSize = 65536

  private let descriptor: Int32
  /// The length; `nil` where it is not known, because this is no regular file.
  let length: Int?

  init(_ path: String) throws(TransportError) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path) }
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    length = isRegular ? Int(status.st_size) : nil
  }

  deinit { close(descriptor) }

  func next() throws -> [UInt8]? {
    var count = 0
    let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, filled in
      repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      filled = max(0, count)
    }
    guard count >= 0 else { throw Self.failure("the file") }
    return piece.isEmpty ? nil : piece
  }

  private static func failure(_ name: String) -> TransportError {
    TransportError(.content, server: "", detail: "\(name) cannot be read: \(String(cString: strerror(errno)))")
  }
}
