internal import CLMDB
internal import EngineAPI
internal import CacheBase

/// The files of a store in its directory: how they are created, removed and moved aside.
///
/// A process can be killed between any two steps:
///
/// - *Creating* makes the directory, the mark, a draft of the data file, its name `data.mdb`, and removes the name of the
///   draft. Up to the draft, the next creation continues: it replaces the draft. After that there is a store, and the draft
///   is a second name of its file, which the next creation or removal takes away.
/// - *Removing* empties the lock file, removes a draft, the data file, then the mark. Until the data file is
///   removed the store is intact: LMDB fills an empty lock file if no process has the store open. Afterwards only the mark
///   is left, of an empty store: opening it creates the data file, and removing it removes the mark.
/// - *Moving aside* makes a directory, gives the mark a second name in it, renames the data file, then removes the first
///   name of the mark. Before the data file the store is where it was, and a directory without one is left. After it there
///   is a mark in both.
///
/// What grows a store is a commit of LMDB: the size of the map is not stored before that.
struct LMDBFiles: Sendable {
  static let system = StoreFiles()

  /// The store's directory.
  let directory: String

  init(_ directory: String) { self.directory = directory }

  var data: String { directory + "/data.mdb" }
  var lock: String { directory + "/lock.mdb" }
  /// A data file that is being created.
  private var draft: String { directory + "/store.draft" }
  private var mark: StoreMark { StoreMark(inFolder: directory) }

  /// The disk space of the files: their allocated blocks, since LMDB can leave holes.
  var allocatedBytes: Int { Self.allocatedBytes(data) + Self.allocatedBytes(lock) }

  private static func allocatedBytes(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Whether there is a store in the directory, damaged or not. Changes nothing.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the directory belongs to someone else, `permissionDenied`, `ioFailed`.
  func isStore() throws(CacheError) -> Bool {
    try StoreMark.isStore(inFolder: directory) { names throws(CacheError) in
      // The lock file stays when a store is removed.
      if names == ["lock.mdb"] { return isLockFile ? .nothing : .others }
      guard names.contains("data.mdb") else { return .others }
      do throws(CacheError) {
        guard let file = try LMDBDataFile(in: directory) else { return .nothing }
        // Another process might be writing right now.
        return (0..<8).contains { _ in file.format != nil } ? .store : .others
      } catch {
        // Something that is not a file has the name of the data file.
        guard error.code == .damaged else { throw error }
        return .others
      }
    }
  }

  /// Whether the lock file is empty, or begins as LMDB's lock files do. A link leads to the file of someone else.
  private var isLockFile: Bool {
    guard SmallFile.target(lock) == nil, let start = try? Self.system.read(lock, atMost: 4)?.bytes else { return false }
    return start.isEmpty || start == withUnsafeBytes(of: LMDBMetaPage.magic) { Array($0) }
  }

  /// Reserves disk space for the lock file. LMDB maps it and then writes to it, and without space that ends the
  /// process. At least the first page is reserved, which holds most readers.
  ///
  /// No environment of the store must be open in this process: it would lose its locks.
  ///
  /// - Throws: `noSpace`. LMDB reports everything else.
  func reserveLocks() throws(CacheError) {
    let headerSize = 4_096
    // At least the size that LMDB gives it: a header, and 64 bytes for each reader.
    let size = headerSize + Int(LMDBEnvironment.maximumReaders) * 64
    if Self.allocatedBytes(lock) >= size { return }
    let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    for size in [size, headerSize] where clmdb_reserve(descriptor, off_t(size)) == 0 { return }
    guard errno != ENOSPC, errno != EDQUOT else { throw .lmdb(errno, "open", path: directory) }
  }

  /// Creates an empty store, unless another process has just created one: first the directory with its parents,
  /// accessible to the user alone, then the mark, then the data file.
  ///
  /// The data file appears complete or not at all, when it is on disk. LMDB itself creates the file first and then
  /// fills it, so that an empty file could be an interrupted creation, or a store that something has emptied.
  func create(mapSize: Int) throws(CacheError) {
    do throws(CacheError) {
      try Self.system.makeDirectory(directory)
      try alone { () throws(CacheError) in
        try mark.create()
        try Self.system.remove(draft)
        defer { unlink(draft) }
        // LMDB's largest page is of 32 KiB.
        let content = LMDBMetaPage.emptyFile(pageSize: min(Int(getpagesize()), 32_768), mapSize: mapSize)
        try Self.system.write(content, to: draft, O_WRONLY | O_CREAT | O_EXCL, synchronized: true)
        // A file that LMDB has created itself meanwhile keeps the name.
        guard link(draft, data) == 0 || errno == EEXIST else { throw .system(errno, "create", data) }
      }
    } catch {
      throw error.preventing(storeAt: directory)
    }
  }

  /// Removes the store, which is closed in this process, or moves it into a new directory next to it. The lock file stays,
  /// emptied.
  ///
  /// Meanwhile it holds the lock that every process shares while it has the store open: no process has it open, and one
  /// that opens it waits. It is LMDB's own lock: the first byte of the lock file, locked with `fcntl`.
  ///
  /// - Throws: `busy` if another process has the store open; `damaged` if a directory is in the place of the lock file, as
  ///   for opening the store.
  func remove(movingAside suffix: String?) throws(CacheError) -> [String] {
    try alone { () throws(CacheError) in
      if try StorePlace(lock) == .folder { throw .lmdb(EISDIR, "lock", path: directory) }
      guard let lock = try Self.system.open(lock, O_RDWR | O_CREAT) else { return [] }
      defer { withExtendedLifetime(lock) {} }
      var region = flock()
      region.l_type = Int16(F_WRLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_len = 1
      guard fcntl(lock.descriptor, F_SETLK, &region) == 0 else {
        throw errno == EACCES || errno == EAGAIN ? .lmdbStoreInUse(directory) : .system(errno, "lock", lock.path)
      }
      do throws(CacheError) { try LMDBDataFile(in: directory)?.check() } catch {
        if error.code == .unsupportedFormat { throw error }
      }
      // The next process creates a new store, and must not mistake these locks for that store's.
      guard ftruncate(lock.descriptor, 0) == 0 else { throw .system(errno, "empty", lock.path) }
      try Self.system.remove(draft)
      if let suffix { return Self.system.isTaken(data) ? [try moveAside(suffix)] : [] }
      // An empty directory in its place holds nothing of anybody's.
      if rmdir(data) != 0 { try Self.system.remove(data) }
      mark.remove()
      return []
    }
  }

  /// Moves the data file and the mark, with the uses in it, into a new directory. The store can be opened there.
  private func moveAside(_ suffix: String) throws(CacheError) -> String {
    // A directory that a link leads to can be on another file system than the link.
    var path = StorePlace.resolved(directory)
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let aside = LMDBFiles(Self.system.freeName(path + suffix))
    do throws(CacheError) {
      try Self.system.makeDirectory(aside.directory)
      if link(mark.path, aside.mark.path) != 0, errno != ENOENT { try aside.mark.create() }
      try Self.system.rename(data, to: aside.data)
    } catch {
      unlink(aside.mark.path)
      rmdir(aside.directory)
      throw error
    }
    mark.remove()
    return aside.directory
  }

  /// Calls `body` while no other process creates, removes or moves the store.
  private func alone<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    try Self.system.withLock(on: directory, within: .seconds(60)) { _ throws(CacheError) in try body() }
  }
}
