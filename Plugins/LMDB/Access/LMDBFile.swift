internal import CLMDB
internal import Platform
internal import StorageSPI

/// Identifies a file regardless of its name.
struct LMDBFileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// The folder of a store and the files in it.
enum LMDBFile {
  static func data(in folder: String) -> String { folder + "/data.mdb" }
  static func lock(in folder: String) -> String { folder + "/lock.mdb" }
  static func record(in folder: String) -> String { folder + "/sound" }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  static func identity(_ path: String) -> LMDBFileIdentity? { status(path).map { LMDBFileIdentity($0) } }

  /// The disk space of the files: their allocated blocks, since LMDB may leave holes.
  static func allocatedBytes(in folder: String) -> Int {
    [data(in: folder), lock(in: folder)].reduce(0) { $0 + Int(status($1)?.st_blocks ?? 0) * 512 }
  }

  /// Creates the folder and its missing parents, accessible to the user alone, unless it exists.
  static func makeFolder(_ path: String) throws(CacheError) {
    if let status = status(path) {
      guard status.st_mode & S_IFMT == S_IFDIR else { throw cannotCreate(path, ENOTDIR) }
      return
    }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeFolder(String(path[..<slash])) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw cannotCreate(path, errno) }
  }

  /// Reserves disk space for the lock file. LMDB maps it and then writes to it, and without space that ends the
  /// process. At least the first page is reserved, which holds most readers.
  ///
  /// No environment of the store may be open in this process: it would lose its locks.
  ///
  /// - Throws: `noSpace`. LMDB reports everything else.
  static func reserveLocks(in folder: String) throws(CacheError) {
    if let status = status(lock(in: folder)), Int(status.st_blocks) * 512 >= locksSize { return }
    let descriptor = open(lock(in: folder), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    try reserveLocks(descriptor, in: folder)
  }

  /// Does the same for the open lock file.
  static func reserveLocks(_ descriptor: Int32, in folder: String) throws(CacheError) {
    for size in [locksSize, locksHeaderSize] where clmdb_reserve(descriptor, off_t(size)) == 0 { return }
    guard errno != ENOSPC, errno != EDQUOT else { throw .lmdb(errno, "open", path: folder) }
  }

  private static let locksHeaderSize = 4_096
  /// At least the size that LMDB gives it: a header, and 64 bytes for each reader.
  private static let locksSize = locksHeaderSize + Int(LMDBEnvironment.maximumReaders) * 64

  /// Whether the disk of the folder `path` is full but for a few pages.
  static func isDiskFull(at path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && Int(status.f_bavail) * Int(status.f_frsize) < 65_536
  }

  /// The error for a store that cannot be created in the folder `path`.
  static func cannotCreate(_ path: String, _ status: Int32) -> CacheError {
    let error = CacheError.lmdb(status, "create", path: path)
    if error.code == .noSpace { return error }
    let status = LMDBStatus(code: status)
    return CacheError(
      .cannotCreate, "cannot create the LMDB store \(path) (\(status))",
      hint: "set another path, or make one of its parents a folder that you may write to", cause: status)
  }
}

/// A file mapped for reading during the value's lifetime.
struct LMDBMappedFile: ~Copyable {
  let bytes: UnsafeRawBufferPointer

  /// Maps the file at its current size; `nil` if that fails, with `errno` set.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    guard status.st_size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let size = Int(status.st_size)
    let start = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
    guard start != MAP_FAILED else { return nil }
    bytes = UnsafeRawBufferPointer(start: start, count: size)
  }

  deinit { if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) } }
}
