internal import CacheDomain
internal import Glibc

/// A file that is written for the user, whole or not at all: a temporary one beside it takes its place in the end. A
/// symbolic link stays: what it leads to is written, as a program that opens the path would write it.
struct AtomicFile: ~Copyable {
  private let path: String
  private let temporary: String
  private let file: Int32

  /// Begins to write the file at `path`, which is only for the user where `isPrivate`; else one that is there keeps its
  /// permissions.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate`, also where something else than a file is in its place, and for
  ///   `-`, which never means a file.
  init(_ path: String, isPrivate: Bool = false) throws(CacheError) {
    guard path != "-", Self.isReplaceable(path) else {
      throw CacheError(
        CacheError.Code(rawValue: "cannotCreate"), "\(path) is no file", hint: "use the standard output for it")
    }
    guard let path = Self.target(of: path) else { throw Self.failure("cannotCreate", path) }
    // Not by the number of the process: in a container the next one has the same, and would be kept out by what a crash
    // has left.
    let temporary = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
    guard file >= 0 else { throw Self.failure("cannotCreate", path) }
    // The owner of a file that is there has said who may read it.
    var status = stat()
    if !isPrivate, stat(path, &status) == 0 { fchmod(file, status.st_mode & 0o777) }
    (self.path, self.temporary, self.file) = (path, temporary, file)
  }

  deinit {
    close(file)
    unlink(temporary)
  }

  /// Writes all of `bytes` after what was written before.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  func write(_ bytes: [UInt8]) throws(CacheError) {
    guard Self.writeAll(bytes, to: file) else { throw Self.failure(Self.code, path) }
  }

  /// Puts what was written in its place. With `replacing` false an existing file is kept.
  ///
  /// - Throws: `CacheError`: `cannotCreate` where the file is there already, `ioFailed`, `noSpace`.
  consuming func commit(replacing: Bool = true) throws(CacheError) {
    guard fsync(file) == 0 else { throw Self.failure(Self.code, path) }
    let status = replacing ? rename(temporary, path) : link(temporary, path)
    guard status == 0 else { throw Self.failure("cannotCreate", path) }
  }

  /// Writes `bytes` to `path`. With `replacing` false an existing file is kept.
  ///
  /// - Throws: `CacheError`: `cannotCreate` where the file cannot be made or is there already, `ioFailed`, `noSpace`.
  static func write(_ bytes: [UInt8], to path: String, replacing: Bool = true) throws(CacheError) {
    let file = try AtomicFile(path)
    try file.write(bytes)
    try file.commit(replacing: replacing)
  }

  /// Makes the folders above `path` that are missing, for the user alone.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate`.
  static func makeFolders(above path: String) throws(CacheError) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure("cannotCreate", path) }
    }
  }

  /// Whether there is nothing at `path`, or a file: neither a device nor a link to a standard stream, such as /dev/stdout,
  /// must be replaced by a file.
  private static func isReplaceable(_ path: String) -> Bool {
    var (status, own) = (stat(), stat())
    guard stat(path, &status) == 0 else { return true }
    let isLink = lstat(path, &own) == 0 && own.st_mode & S_IFMT == S_IFLNK
    return status.st_mode & S_IFMT == S_IFREG && !(isLink && isStream(status))
  }

  /// What `path` leads to where it is a symbolic link, which need not be there yet; `nil`, for the reason in `errno`,
  /// where it leads nowhere.
  private static func target(of path: String) -> String? {
    var path = path
    for _ in 0..<maximumLinks {
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(path, &bytes, bytes.count)
      guard count >= 0 else { return [EINVAL, ENOENT].contains(errno) ? path : nil }
      let target = String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
      path = target.hasPrefix("/") ? target : folder + target
    }
    errno = ELOOP
    return nil
  }

  /// As many links in a row as the system follows.
  private static let maximumLinks = 40

  private static func isStream(_ file: stat) -> Bool {
    (STDIN_FILENO...STDERR_FILENO).contains { stream in
      var status = stat()
      return fstat(stream, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino
    }
  }

  private static func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        let count = Glibc.write(
          file, UnsafeRawBufferPointer(rebasing: bytes[offset...]).baseAddress, bytes.count - offset)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        offset += count
      }
      return true
    }
  }

  /// The code for a failure to write.
  private static var code: String { errno == ENOSPC ? "noSpace" : "ioFailed" }

  private static func failure(_ code: String, _ path: String) -> CacheError {
    let reason = String(cString: strerror(errno))
    return CacheError(
      CacheError.Code(rawValue: code), "\(path) cannot be written: \(reason)", hint: "name another file")
  }
}
