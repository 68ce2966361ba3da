public import EngineAPI
internal import CacheBase

/// Keeps each namespace in a JSON property-list file, which it reads and writes as a whole.
///
/// The store is a folder that people, `jq` and `plutil -p` can read. It suits small stores that are read far more often
/// than written: the cost of a write grows with the namespace, not with the change.
public struct PlistPlugin: StoragePlugin {
  /// The engine's name, capabilities and options.
  public let declaration = EngineDeclaration(
    name: "plist", version: "1", summary: "one readable JSON file per namespace, loaded whole and written whole",
    capabilities: [.persistent, .shared, .ordered, .bounded, .atomicBatches], options: PlistOptions.all)

  /// Creates the plugin.
  public init() {}

  /// Opens the folder, and creates it first if there is none. It reads a file only when its namespace is first used, so
  /// damage shows up only then.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if no store can be created, or the folder belongs to someone else;
  ///   `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let options = try PlistOptions(configuration)
    return try await PlistEngine.open(options, clock: configuration.clock)
  }

  /// Inspects the names in the folder and the start of each file, without the lock. The reported format is the latest
  /// of all files.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the folder belongs to someone else, `permissionDenied`, `ioFailed`;
  ///   `invalidOption` if an option is missing.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let folder = PlistFolder(try PlistOptions(configuration), StoreFiles())
    return try await BlockingExecutor().run { () throws(CacheError) in try folder.inspect() }
  }

  /// Removes every file of the store except the lock file, under the lock, or moves them into a new folder. Other handles
  /// continue with an empty store.
  ///
  /// - Throws: `CacheError`: `busy` if the lock cannot be had within the timeout, `cannotCreate` if the folder belongs to
  ///   someone else, or no folder to move the files to can be made, `unsupportedFormat` if a later version wrote a part of
  ///   the store, `noSpace`, `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    var options = try PlistOptions(configuration)
    while options.path.count > 1, options.path.hasSuffix("/") { options.path.removeLast() }
    options.path = StorePlace.resolved(options.path)
    let folder = PlistFolder(options, StoreFiles())
    return try await BlockingExecutor().run { () throws(CacheError) in try folder.removeStore(movingAside: suffix) }
  }
}

/// The options of the plist engine: their declarations and their values.
struct PlistOptions: Sendable {
  static let path = EngineOption(
    "path", .path, default: .text("plist"), help: "the directory with one JSON file for each namespace")

  static let all: [EngineOption] = [path, .durability, .busyTimeout]

  /// The store's folder.
  var path: String
  /// The failures that a commit survives.
  var durability = Durability.normal
  /// How long to wait for a lock that another handle holds.
  var busyTimeout = Duration.seconds(5)
}

extension PlistOptions {
  init(_ configuration: EngineConfiguration) throws(CacheError) {
    self.init(
      path: try configuration.text(Self.path.name), durability: try configuration.durability(),
      busyTimeout: .milliseconds(try configuration.integer(EngineOption.busyTimeout.name)))
  }
}

extension PlistFolder {
  /// Inspects the store without taking the lock, and without creating or changing anything.
  func inspect() throws(CacheError) -> StoreInspection {
    var files: [String] = []
    if try isStore() {
      files = try self.files()
      for other in [commitPath, lockPath] where try system.status(of: other) != nil { files.append(other) }
    }
    let format = files.isEmpty ? nil : try latestVersion()
    return StoreInspection(path: path, files: files.sorted(), format: format, currentFormat: PlistFormat.version)
  }

  /// Removes a store's files, whatever their state, or moves them into a new folder with its own mark, and returns
  /// that folder. Without a folder to move to it writes nothing, so it works on a full disk.
  func removeStore(movingAside suffix: String?) throws(CacheError) -> [String] {
    guard try isStore() else { return [] }
    return try withLock(exclusively: true) { () throws(CacheError) in
      if let version = try latestVersion(), version > PlistFormat.version { throw .laterFormat(path, version) }
      if let suffix { return try move(aside: suffix) }
      // First, so that none of the files that were to be renamed can come back.
      if try isInterrupted() { try system.remove(commitPath) }
      for file in try files() {
        if try system.status(of: file)?.isRegular == true {
          try system.remove(file)
        } else {
          // A folder, whose content someone else has put there.
          try system.rename(file, to: system.freeName(file + ".aside"))
        }
      }
      return []
    }
  }

  private func move(aside suffix: String) throws(CacheError) -> [String] {
    try recover()
    let files = try files()
    if files.isEmpty { return [] }
    var options = options
    options.path = system.freeName(path + suffix)
    let new = PlistFolder(options, system)
    do throws(CacheError) {
      try new.makeStore()
      try new.list(try namespaces())
    } catch {
      // A full disk has no room for the list.
      Folders.remove(new.path)
      throw error
    }
    for file in files { try system.rename(file, to: new.path + file.dropFirst(path.count)) }
    return [new.path]
  }
}

extension StorageLocation {
  /// The store in the folder `path`, with what commits survive by `durability`.
  public static func plist(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(PlistPlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
