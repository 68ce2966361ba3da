internal import CSQLite
internal import Platform
internal import StorageSPI

/// A database file as raw bytes: SQLite opens, locks and reads it, but does not interpret it.
final class SQLiteFile {
  private let connection: SQLiteConnection

  init(_ path: String, flags: Int32 = SQLITE_OPEN_READONLY) throws(CacheError) {
    connection = try SQLiteConnection(path: path, flags: flags, busyTimeout: 0)
  }

  /// The file, locked against all others until it is released.
  ///
  /// - Parameter timeout: how long to wait for other processes, in milliseconds.
  static func locked(_ path: String, timeout: Int32) throws(CacheError) -> SQLiteFile {
    let file = try SQLiteFile(path, flags: SQLITE_OPEN_READWRITE)
    var (code, waited) = (csqlite_lock_file(file.connection.handle), Int32(0))
    while code & 0xFF == SQLITE_BUSY, waited < timeout {
      usleep(1_000)
      waited += 1
      code = csqlite_lock_file(file.connection.handle)
    }
    guard code == SQLITE_OK else {
      throw CacheError(sqlite: code, message: "it is open elsewhere, or cannot be locked", path: path)
    }
    return file
  }

  /// The file's size in bytes.
  var size: Int { Int(csqlite_file_size(connection.handle)) }

  /// `count` bytes from `offset` on; `nil` if there are fewer or they cannot be read.
  func bytes(at offset: Int, _ count: Int) -> [UInt8]? {
    guard offset >= 0, count > 0, offset <= size - count else { return nil }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
      let code = csqlite_file_read(connection.handle, buffer.baseAddress, Int32(count), Int64(offset))
      length = code == SQLITE_OK ? count : 0
    }
    return bytes.isEmpty ? nil : bytes
  }
}

/// A file that SQLite does not lock, such as a log.
struct SQLitePlainFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  /// Opens the file at `path`; `nil` if there is none.
  init?(_ path: String) throws(CacheError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SQLiteFiles.systemError(path, "cannot be opened", errno == EACCES ? .permissionDenied : .ioFailed)
    }
    (self.path, self.descriptor) = (path, descriptor)
  }

  deinit { close(descriptor) }

  /// `count` bytes from `offset` on; `nil` if there are fewer.
  ///
  /// - Throws: `CacheError` with the code `ioFailed` if they cannot be read.
  func bytes(at offset: Int, _ count: Int) throws(CacheError) -> [UInt8]? {
    var hasFailed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
      let read = pread(descriptor, buffer.baseAddress, count, off_t(offset))
      hasFailed = read < 0
      length = max(0, read)
    }
    if hasFailed { throw SQLiteFiles.systemError(path, "cannot be read", .ioFailed) }
    return bytes.count == count ? bytes : nil
  }
}
