internal import EngineSupport
internal import Platform
public import StorageSPI

/// Keeps each namespace in a JSON property-list file, which it reads and writes as a whole.
///
/// The store is a folder that people, `jq` and `plutil -p` can read. It suits small stores that are read far more often
/// than written: the cost of a write grows with the namespace, not with the change.
public struct PlistPlugin: StoragePlugin {
  /// The engine's name, capabilities and options.
  public let declaration = EngineDeclaration(
    name: "plist", version: "1", summary: "one readable JSON file per namespace, loaded whole and written whole",
    capabilities: [.persistent, .shared, .atomicBatches], options: PlistOptions.all)

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
    let folder = PlistFolder(path: try PlistOptions(configuration).path, fileSystem: SystemFileSystem())
    return try await BlockingExecutor().run { () throws(CacheError) in try folder.inspect() }
  }

  /// Removes every file of the store except the lock file, under the lock, or moves them into a new folder. Other handles
  /// go on with an empty store. Items that are not files are moved aside.
  ///
  /// - Throws: `CacheError`: `busy` if the lock cannot be had within the timeout, `cannotCreate` if the folder belongs to
  ///   someone else, or no folder to move the files to can be made, `unsupportedFormat` if a later version wrote a part of
  ///   the store, `noSpace`, `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    let removal = PlistRemoval(try PlistOptions(configuration), movingAside: suffix)
    return try await BlockingExecutor().run { () throws(CacheError) in try removal.run() }
  }
}

/// The options of the plist engine: their declarations and their values.
struct PlistOptions: Sendable {
  static let path = EngineOption(
    "path", .path, default: .text("plist"), help: "the folder that holds one JSON file per namespace")

  static let all: [EngineOption] = [path, .durability, .busyTimeout]

  /// The store's folder.
  var path: String
  /// What a commit survives.
  var durability: Durability
  /// How long to wait for a lock that another handle holds.
  var busyTimeout: Duration

  init(path: String, durability: Durability = .normal, busyTimeout: Duration = .seconds(5)) {
    self.path = path
    self.durability = durability
    self.busyTimeout = busyTimeout
  }

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    self.init(
      path: try configuration.text(Self.path.name), durability: try configuration.durability(),
      busyTimeout: .milliseconds(try configuration.integer(EngineOption.busyTimeout.name)))
  }
}

extension PlistFolder {
  /// Inspects the store without taking the lock, and without creating or changing anything.
  func inspect() throws(CacheError) -> StoreInspection {
    var names: [String] = []
    var formats: [Int] = []
    if try requireOwn() {
      let lock = try status(of: lockPath) == nil ? [] : [Self.lockName]
      names = (try parts() + lock).sorted()
    }
    let namespaces = names.compactMap { Self.namespace(ofFile: $0) }
    for namespace in namespaces {
      if let format = try format(ofFile: path(of: namespace)) { formats.append(format) }
    }
    // A store without entries has the current format.
    let format = !names.isEmpty && namespaces.isEmpty ? PlistDecoder.format : formats.max()
    return StoreInspection(
      path: path, files: names.map { path + "/" + $0 }, format: format, currentFormat: PlistDecoder.format)
  }
}

/// Removes a store's files, whatever their state, or moves them into a new folder with a mark of its own. Without a folder
/// to move to it writes nothing, so it works on a full disk.
struct PlistRemoval: Sendable {
  private let options: PlistOptions
  private let suffix: String?
  private let fileSystem: any FileSystem

  init(
    _ options: PlistOptions, movingAside suffix: String?, fileSystem: any FileSystem = SystemFileSystem()
  ) {
    self.options = options
    self.suffix = suffix
    self.fileSystem = fileSystem
  }

  /// Removes the store, and returns the folder that its files were moved to.
  func run() throws(CacheError) -> [String] {
    var path = options.path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let folder = PlistFolder(path: StorePlace.resolved(path), fileSystem: fileSystem)
    guard try folder.requireOwn() else { return [] }
    if let status = try folder.status(of: folder.lockPath), status.kind != .regular {
      try folder.rename(folder.lockPath, to: folder.freePath(folder.lockPath + ".aside"))
    }
    return try PlistLock(folder, timeout: options.busyTimeout).hold(exclusively: true) { () throws(CacheError) in
      try requireKnownFormat(of: folder)
      let names = try folder.parts()
      if let suffix { return names.isEmpty ? [] : [try move(folder, aside: suffix)] }
      // The journal goes first: without it, none of the files that it names can come back.
      for path in [folder.journalPath] + names.map({ folder.path + "/" + $0 }) { try remove(path, of: folder) }
      return []
    }
  }

  /// Fails if a later version has written a file or the journal. What cannot be read is of no version.
  private func requireKnownFormat(of folder: PlistFolder) throws(CacheError) {
    for path in try folder.parts().map({ folder.path + "/" + $0 }) {
      guard let format = try? folder.format(ofFile: path), format > PlistDecoder.format else { continue }
      throw CacheError(PlistFormatError(laterFormat: format), path: path)
    }
    do throws(CacheError) {
      _ = try folder.journal()
    } catch {
      guard error.code != .unsupportedFormat else { throw error }
    }
  }

  private func remove(_ path: String, of folder: PlistFolder) throws(CacheError) {
    if let status = try folder.status(of: path), status.kind != .regular {
      try folder.rename(path, to: folder.freePath(path + ".aside"))
    } else {
      try folder.remove(path)
    }
  }

  private func move(_ folder: PlistFolder, aside suffix: String) throws(CacheError) -> String {
    let new = PlistFolder(path: try folder.freePath(folder.path + suffix), fileSystem: fileSystem)
    var moved: [String] = []
    do throws(CacheError) {
      try new.makeStore()
      try PlistLock(new, timeout: options.busyTimeout).hold(exclusively: true) { () throws(CacheError) in
        try new.list(try folder.listedNamespaces().sorted())
        // What is left of a batch that cannot be finished moves as it is.
        try? folder.finishJournal(synchronized: false)
        for name in try folder.parts() {
          try folder.rename(folder.path + "/" + name, to: new.path + "/" + name)
          moved.append(name)
        }
      }
    } catch {
      for name in moved { try? folder.rename(new.path + "/" + name, to: folder.path + "/" + name) }
      guard (try? new.parts())?.isEmpty == true else { throw error }
      // A full disk has no room for its list: no empty folder is to look like a damaged store.
      for path in [new.lockPath, StoreMark(inFolder: new.path).path] { try? fileSystem.unlink(path) }
      rmdir(new.path)
      throw error
    }
    return new.path
  }
}

extension StorageLocation {
  /// The store in the folder `path`, with what commits survive by `durability`.
  public static func plist(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(PlistPlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
