internal import CLMDB
public import EngineAPI

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
        EngineOption("path", .path, default: .text("lmdb"), help: "the directory of the store"),
        EngineOption(
          "mapSize", .size(1_048_576...70_368_744_177_664), default: .integer(67_108_864),
          help: "the initial size of the memory map, which grows by itself"),
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
    let files = LMDBFiles(try configuration.text("path"))
    _ = try files.isStore()
    let present = [files.data, files.lock].filter(LMDBFiles.system.isTaken)
    // The lock file stays when the store is removed.
    return StoreInspection(
      path: files.directory, exists: present.first == files.data, files: present,
      format: present.isEmpty ? nil : try LMDBDataFile(in: files.directory)?.format, currentFormat: LMDBMetaPage.format)
  }

  /// Removes the data file, whatever it contains, and the mark of the store, or moves both aside, unless a process has the
  /// store open. Deleting needs no disk space; moving aside needs a few blocks.
  ///
  /// - Throws: `CacheError`: `busy` if a process has the store open, `cannotCreate` if the directory belongs to someone
  ///   else, `unsupportedFormat` if the store is of a later version, `permissionDenied`, `ioFailed`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    let files = LMDBFiles(try configuration.text("path"))
    return try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.whileClosed(files) { () throws(CacheError) in
        try files.isStore() ? try files.remove(movingAside: suffix) : []
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
