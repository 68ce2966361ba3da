internal import FetchVocabulary
internal import CacheBase

/// A file written for the user, complete or not at all: a temporary file next to it takes its place at the end. Only a
/// process that is killed leaves that behind. A symbolic link stays: its target is written, as any program that opens
/// the path would do.
///
/// A device such as /dev/null, a named pipe and a standard stream such as /dev/stdout are written as the bytes come.
struct AtomicFile: ~Copyable {
  private let path: String
  /// The path of the temporary file; `nil` for a device, a pipe or a standard stream.
  private let temporary: String?
  private let output: Console

  /// Begins to write the file at `path`. With `isPrivate` only the user can read it; otherwise an existing file keeps
  /// its permissions.
  ///
  /// - Throws: `CacheError`: `ioFailed`, even if `path` is a folder, or `-`, which never means a file; `noSpace`;
  ///   `cancelled` while a named pipe has no reader.
  init(_ path: String, isPrivate: Bool = false) throws(CacheError) {
    guard path != "-" else {
      throw CacheError(
        .ioFailed, "'-' does not name a file here", hint: "name one, or /dev/stdout")
    }
    if let file = try Self.openStream(path) {
      self.path = path
      temporary = nil
      output = Console(descriptor: file, name: path)
      return
    }
    guard let path = Self.target(of: path) else { throw Self.failure(path) }
    // Not the process number: in a container the next process has the same, and a crash's leftover file would block it.
    let temporary = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
    // The owner of an existing file has decided who can read it. That holds from the start: others see the name.
    var status = stat()
    let isThere = !isPrivate && stat(path, &status) == 0
    let mode = isThere ? status.st_mode & 0o777 : isPrivate ? 0o600 : 0o644
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else { throw Self.failure(path) }
    // The mask of the process (umask) might have taken some permissions away.
    if isThere { fchmod(file, mode) }
    self.path = path
    self.temporary = temporary
    output = Console(descriptor: file, name: path)
  }

  /// The device, pipe or standard stream at `path`, open for writing; `nil` if `path` is free or a file. A file must not
  /// replace it.
  private static func openStream(_ path: String) throws(CacheError) -> Int32? {
    var (status, own) = (stat(), stat())
    guard stat(path, &status) == 0 else { return nil }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    let isLink = lstat(path, &own) == 0 && own.st_mode & S_IFMT == S_IFLNK
    // Opening it again would begin at the start of a redirected file.
    if isLink || !isFile, let stream = standardStream(status) {
      let copy = fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      guard copy >= 0 else { throw failure(path) }
      return copy
    }
    if isFile { return nil }
    while true {
      // Opening a named pipe must not wait for its reader, because no signal would end that wait.
      let file = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      if file >= 0 {
        _ = fcntl(file, F_SETFL, 0)
        return file
      }
      guard errno == ENXIO, status.st_mode & S_IFMT == S_IFIFO else { throw failure(path) }
      if Task.isCancelled { throw .cancelled }
      poll(nil, 0, 50)
    }
  }

  deinit {
    close(output.descriptor)
    if let temporary { unlink(temporary) }
  }

  /// Appends `bytes`.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`; `cancelled` while a device or pipe is not ready.
  func write(_ bytes: [UInt8]) throws(CacheError) {
    try output.write(bytes)
  }

  /// Puts the file in its place. With `replacing` false an existing file stays.
  ///
  /// - Throws: `CacheError`: `ioFailed`, for example because the file exists and must not be replaced; `noSpace`.
  consuming func commit(replacing: Bool = true) throws(CacheError) {
    guard let temporary else { return }
    guard fsync(output.descriptor) == 0 else { throw Self.failure(path) }
    let status = replacing ? rename(temporary, path) : link(temporary, path)
    guard status == 0 else { throw Self.failure(path) }
  }

  /// Writes `bytes` to `path`. With `replacing` false an existing file stays.
  ///
  /// - Throws: `CacheError`: `ioFailed`, for example because the file exists and must not be replaced; `noSpace`.
  static func write(_ bytes: [UInt8], to path: String, replacing: Bool = true) throws(CacheError) {
    let file = try AtomicFile(path)
    try file.write(bytes)
    try file.commit(replacing: replacing)
  }

  /// Creates the missing folders above `path`, for the user alone.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  static func makeFolders(above path: String) throws(CacheError) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }
  }

  /// The target of the symbolic link at `path`, which need not exist yet; `nil`, with the reason in `errno`, if it
  /// leads nowhere.
  private static func target(of path: String) -> String? {
    var path = path
    for _ in 0..<maximumLinks {
      guard let target = SmallFile.target(path) else { return path }
      path = target.hasPrefix("/") ? target : folder(of: path) + target
    }
    errno = ELOOP
    return nil
  }

  /// The folder of the file at `path`, with a trailing slash.
  private static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./" }

  /// The number of successive links that the system follows.
  private static let maximumLinks = 40

  /// The standard output or error, if `file` is one of them.
  private static func standardStream(_ file: stat) -> Int32? {
    (STDOUT_FILENO...STDERR_FILENO).first { stream in
      var status = stat()
      return fstat(stream, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino
    }
  }

  private static func failure(_ path: String) -> CacheError {
    let (code, reason) = (errno == ENOSPC ? CacheError.Code.noSpace : .ioFailed, String(cString: strerror(errno)))
    return CacheError(
      code, "\(path) cannot be written: \(reason)", hint: "name another file")
  }
}

extension String {
  /// Whether this path means stdout, which then holds nothing but the content.
  var meansOutput: Bool { self == "-" || self == "/dev/stdout" }
}

/// A file opened before a long piece of work, so that a failure comes early, and written after it.
final class PendingFile {
  private var file: AtomicFile?

  /// Opens the file at `path`; an existing file stays until `finish`.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  init(_ path: String) throws(CacheError) { file = try AtomicFile(path) }

  /// Writes the file. If it is not called, nothing changes.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  func finish(_ bytes: [UInt8]) throws(CacheError) {
    guard let file = file.take() else { return }
    try file.write(bytes)
    try file.commit()
  }
}
