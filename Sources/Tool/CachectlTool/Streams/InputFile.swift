internal import FetchVocabulary
internal import CacheBase

/// A file named by the user, read piece by piece.
final class InputFile: Sendable {
  private static let pieceSize = 65_536

  private let path: String
  private let file: Int32

  /// Opens the file at `path`; `-` means stdin.
  ///
  /// - Throws: `CacheError`: `ioFailed`; `invalidRequest` if `path` is empty.
  init(_ path: String) throws(CacheError) {
    guard !path.isEmpty else {
      throw CacheError(.invalidRequest, "the name of a file is empty", hint: "name a file that can be read")
    }
    self.path = path
    // Opening a named pipe must not wait for its writer, because no signal would end that wait; `next` waits instead.
    file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure(path) }
    var status = stat()
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      if file > STDIN_FILENO { close(file) }
      errno = EISDIR
      throw Self.failure(path)
    }
  }

  /// The number of bytes left to read; `nil` if unknown, because this is not a regular file.
  var length: Int? {
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return max(0, Int(status.st_size - lseek(file, 0, SEEK_CUR)))
  }

  deinit { if file > STDIN_FILENO { close(file) } }

  /// The next bytes; empty at the end.
  ///
  /// - Throws: `CacheError`: `ioFailed`; `cancelled` if the task is cancelled while there is nothing to read.
  func next() async throws(CacheError) -> [UInt8] {
    while true {
      try await Readiness.pause(until: file, POLLIN)
      if let piece = try readPiece() { return piece }
    }
  }

  /// The bytes that can be read without blocking, empty at the end; `nil` if there are none yet.
  private func readPiece() throws(CacheError) -> [UInt8]? {
    var count = 0
    let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, filled in
      count = read(file, buffer.baseAddress, buffer.count)
      filled = max(0, count)
    }
    if count < 0, errno == EINTR || errno == EAGAIN { return nil }
    guard count >= 0 else { throw Self.failure(path) }
    return piece
  }

  /// All bytes of the file at `path`; `-` means stdin.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of bytes.
  ///   - code: the code of the error if there are more.
  ///   - hint: the hint of that error.
  /// - Throws: `CacheError`: `ioFailed`; `code` if there are more than `limit`.
  static func bytes(
    of path: String, limit: Int, code: CacheError.Code = .malformed,
    hint: String = "name another file"
  ) throws(CacheError) -> [UInt8] {
    let (bytes, isWhole) = try InputFile(path).beginning(limit)
    guard isWhole else {
      throw CacheError(code, "\(path) is larger than \(ByteSizeText(bytes: Int64(limit)))", hint: hint)
    }
    return bytes
  }

  /// The bytes that are left, up to the piece with which they are more than `limit`; and whether these are all.
  ///
  /// - Throws: `CacheError`: `ioFailed`.
  func beginning(_ limit: Int) throws(CacheError) -> (bytes: [UInt8], isWhole: Bool) {
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      try Readiness.wait(for: file, POLLIN)
      guard let piece = try readPiece() else { continue }
      if piece.isEmpty { return (bytes, true) }
      bytes += piece
    }
    return (bytes, false)
  }

  private static func failure(_ path: String) -> CacheError {
    let (number, code) = (errno, CacheError.Code.ioFailed)
    if path == "-" {
      // A folder takes the place of a closed stream; see `Console.keepClosedStreams`.
      let isClosed = number == EISDIR || number == EBADF
      let reason = isClosed ? "is closed, or a folder" : "cannot be read: \(String(cString: strerror(number)))"
      return CacheError(code, "stdin \(reason)", hint: "pass the data by a pipe, or name a file")
    }
    return CacheError(
      code, "\(path) cannot be read: \(String(cString: strerror(number)))", hint: "name a file that can be read")
  }
}
