internal import CLMDB
internal import EngineSupport
internal import Platform
public import StorageSPI

/// Keeps entries in an LMDB environment: one memory-mapped B+ tree per namespace, read without copying.
///
/// The store is a directory that any number of processes can use at once. The README describes its layout.
public struct LMDBPlugin: StoragePlugin {
  /// The engine's name, capabilities and options. The version is that of the LMDB library.
  public let declaration: EngineDeclaration

  /// Creates the plugin.
  public init() {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    mdb_version(&major, &minor, &patch)
    declaration = EngineDeclaration(
      name: "lmdb", version: "\(major).\(minor).\(patch)",
      summary: "a memory-mapped B+ tree, the fastest to read, shared by processes",
      capabilities: [.persistent, .shared, .ordered, .bounded, .atomicBatches, .countsChanges],
      options: [
        EngineOption("path", .path, default: .text("lmdb"), help: "the directory that holds the store"),
        EngineOption(
          "mapSize", .size(1_048_576...70_368_744_177_664), default: .integer(67_108_864),
          help: "the size of the memory map to begin with; it grows by itself"),
        .durability,
      ])
  }

  /// Opens the store, and creates it first if there is none.
  ///
  /// Handles on one store within a process share one environment, as LMDB requires. Cost: about a tenth of a
  /// millisecond.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if no store can be created, or the directory belongs to someone else; `damaged`,
  ///   `unsupportedFormat`, `permissionDenied`, `noSpace`, `busy`, `ioFailed`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let use = try LMDBRegistry.shared.environment(
      at: configuration.text("path"), mapSize: Int(configuration.integer("mapSize")))
    return LMDBEngine(use, durability: try configuration.durability(), clock: configuration.clock)
  }

  /// Inspects the store's files, and reads the format from the data file without LMDB.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the directory belongs to someone else, `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let path = try configuration.text("path")
    _ = try LMDBDataFile.isStore(path)
    let files = [LMDBFile.data(in: path), LMDBFile.lock(in: path)].filter { LMDBFile.status($0) != nil }
    // The lock file stays when the store is removed.
    return StoreInspection(
      path: path, exists: files.first == LMDBFile.data(in: path), files: files,
      format: try LMDBDataFile(in: path)?.format, currentFormat: LMDBMetaPage.format)
  }

  /// Removes the data file, whatever it contains, or moves it aside with the mark of the store, unless a process has the
  /// store open. Deleting needs no disk space; moving aside needs a few blocks.
  ///
  /// - Throws: `CacheError`: `busy` if a process has the store open, `cannotCreate` if the directory belongs to someone
  ///   else, `unsupportedFormat` if the store is of a later version, `permissionDenied`, `ioFailed`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    let path = try configuration.text("path")
    return try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(CacheError) in
        let isStore = try LMDBDataFile.isStore(path)
        guard isStore, LMDBFile.status(LMDBFile.data(in: path)) != nil else { return [] }
        return try LMDBRemoval.remove(path, movingAside: suffix)
      }
    }
  }
}

extension StorageLocation {
  /// The store in the directory `path`, with what commits survive by `durability`.
  public static func lmdb(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(LMDBPlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}

/// Removes a store that is closed in this process, in any state. The lock file stays, emptied.
private enum LMDBRemoval {
  /// Removes the store in the directory `path`, or moves it into a new directory next to it.
  ///
  /// Meanwhile it holds the lock that every process shares while it has the store open: no process has it open, and one
  /// that opens it waits. It is LMDB's own lock: the first byte of the lock file, locked with `fcntl`.
  ///
  /// - Throws: `busy` if another process has the store open.
  static func remove(_ path: String, movingAside suffix: String?) throws(CacheError) -> [String] {
    let lock = open(LMDBFile.lock(in: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw .lmdb(errno, "lock", path: path) }
    defer { close(lock) }
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    region.l_len = 1
    guard fcntl(lock, F_SETLK, &region) == 0 else {
      throw errno == EACCES || errno == EAGAIN ? .lmdbStoreInUse(path) : .lmdb(errno, "lock", path: path)
    }
    do throws(CacheError) { try LMDBDataFile(in: path)?.check() } catch {
      if error.code == .unsupportedFormat { throw error }
    }
    // The next process creates a new store, and must not mistake these locks for that store's.
    guard ftruncate(lock, 0) == 0 else { throw .lmdb(errno, "empty", path: path) }
    if let suffix { return [try moveAside(path, suffix)] }
    let data = LMDBFile.data(in: path)
    // An empty directory in its place holds nothing of anybody's.
    guard unlink(data) == 0 || errno == ENOENT || (errno == EISDIR && rmdir(data) == 0) else {
      throw .lmdb(errno, "remove", path: path)
    }
    return []
  }

  /// Moves the data file and the mark into a new directory. The store can be opened there.
  private static func moveAside(_ path: String, _ suffix: String) throws(CacheError) -> String {
    // A directory that a link leads to may be on another file system than the link.
    var directory = StorePlace.resolved(path)
    while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
    var aside = directory + suffix
    var number = 1
    while mkdir(aside, 0o700) != 0 {
      guard errno == EEXIST else { throw .lmdb(errno, "move aside", path: path) }
      number += 1
      aside = "\(directory)\(suffix)-\(number)"
    }
    // The mark is in both directories while the data file moves, which is of a store in either.
    let mark = StoreMark(inFolder: path)
    let newMark = StoreMark(inFolder: aside)
    do throws(CacheError) {
      if link(mark.path, newMark.path) != 0, errno != ENOENT { try newMark.create() }
      guard rename(LMDBFile.data(in: path), LMDBFile.data(in: aside)) == 0 else {
        throw .lmdb(errno, "move aside", path: path)
      }
    } catch {
      unlink(newMark.path)
      rmdir(aside)
      throw error
    }
    mark.remove()
    return aside
  }
}
