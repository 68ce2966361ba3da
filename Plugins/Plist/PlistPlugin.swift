internal import EngineSupport
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

  /// Removes every file of the store except the lock file, under the lock; other handles go on with an empty store.
  /// Items that are not files are moved aside.
  ///
  /// - Throws: `CacheError`: `busy` if the lock cannot be had within the time-out, `cannotCreate` if the folder belongs to
  ///   someone else, `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard suffix == nil else { throw .cannotMoveAside(declaration.name) }
    let options = try PlistOptions(configuration)
    try await BlockingExecutor().run { () throws(CacheError) in try PlistRemoval.run(options) }
    return []
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
    guard try requireOwn() else { return inspection([], format: nil) }
    let lock = try status(of: lockPath) == nil ? [] : [Self.lockName]
    let names = (try parts() + lock).sorted()
    let namespaces = names.compactMap { Self.namespace(ofFile: $0) }
    // A store without entries has the current format.
    guard !namespaces.isEmpty else {
      return inspection(paths(names), format: names.isEmpty ? nil : PlistDecoder.format)
    }
    var formats: [Int] = []
    for namespace in namespaces { if let format = try format(of: namespace) { formats.append(format) } }
    return inspection(paths(names), format: formats.max())
  }

  private func paths(_ names: [String]) -> [String] { names.map { path + "/" + $0 } }

  private func inspection(_ files: [String], format: Int?) -> StoreInspection {
    StoreInspection(path: path, files: files, format: format, currentFormat: PlistDecoder.format)
  }

  /// The format version of the file of `namespace`; `nil` if it is unknown. Cost: reading the start of the file if the
  /// version comes first, as this engine writes it; otherwise reading the whole file.
  private func format(of namespace: String) throws(CacheError) -> Int? {
    let path = path(of: namespace)
    guard try status(of: path)?.kind == .regular else { return nil }
    if let head = try read(path, atMost: 64)?.bytes, let format = Self.format(ofBeginning: head) { return format }
    guard let content = try read(path) else { return nil }
    return (try? PlistDecoder.decode(content.bytes, namespace: namespace)) == nil ? nil : PlistDecoder.format
  }

  private static func format(ofBeginning bytes: [UInt8]) -> Int? {
    var json = JSONReader(bytes)
    guard json.skip(UInt8(ascii: "{")), (try? json.string()) == "format", json.skip(UInt8(ascii: ":")) else {
      return nil
    }
    // If the number ends the bytes read so far, it may go on behind them.
    guard let format = try? json.integer(), json.next != nil else { return nil }
    return format
  }
}

/// Removes a store's files, whatever their state. It writes nothing, so it works on a full disk.
enum PlistRemoval {
  static func run(
    _ options: PlistOptions, fileSystem: any FileSystem = SystemFileSystem(), timer: any PlistTimer = SystemTimer()
  ) throws(CacheError) {
    let folder = PlistFolder(path: options.path, fileSystem: fileSystem)
    guard try folder.requireOwn() else { return }
    var clearance = PlistClearance(folder: folder, suffix: ".aside")
    try clearance.moveUnlessFile(folder.lockPath)
    let lock = PlistLock(folder: folder, wait: PlistWait(timeout: options.busyTimeout, timer: timer))
    try lock.hold(exclusively: true) { () throws(CacheError) in
      // The journal goes first: without it, none of the files that it names can come back.
      for path in [folder.journalPath] + (try folder.parts()).map({ folder.path + "/" + $0 }) {
        try clearance.moveUnlessFile(path)
        try folder.remove(path)
      }
    }
  }
}

extension StorageLocation {
  /// The store in the folder `path`, with what commits survive by `durability`.
  public static func plist(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(PlistPlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
