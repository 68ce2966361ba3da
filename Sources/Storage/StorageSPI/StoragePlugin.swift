/// Makes engines of one kind. The composition root knows nothing else about an engine.
public protocol StoragePlugin: Sendable {
  /// The engine's name, capabilities and options.
  var declaration: EngineDeclaration { get }

  /// Opens the store that `configuration` describes, and creates it first if there is none.
  ///
  /// What it creates on disk, including missing parent folders, is accessible to the user alone (folders 0700, files
  /// 0600). Opening a damaged store may fail or succeed, but never changes or removes anything that can still be read.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if there is no store and none can be created, or if what is there belongs to
  ///   someone else, which is not changed; `damaged`; `unsupportedFormat` if the store is of a later version;
  ///   `permissionDenied`, `busy`, `unreachable`.
  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine

  /// Inspects the store that `configuration` describes, without opening, creating or changing it. An engine whose
  /// stores are on a server asks that server; if it does not answer, this fails like `open(_:)`.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if what is there belongs to someone else, `permissionDenied`, `ioFailed`,
  ///   `unreachable`; `unsupported` if the engine cannot tell.
  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection

  /// Saves every readable entry of a damaged store. A new store replaces it in one step, and the damaged files are
  /// moved aside, never removed. An undamaged store stays as it is.
  ///
  /// A crash in between leaves either the damaged store or the repaired one in place.
  ///
  /// - Throws: `CacheError`: `busy` if the store is open elsewhere, `cannotCreate` if what is there belongs to someone
  ///   else, `noSpace`, `ioFailed`, `permissionDenied`; `unsupported` if the engine cannot repair. On any error the store is unchanged.
  func repair(_ configuration: EngineConfiguration, _ plan: RepairPlan) async throws(CacheError) -> RepairReport

  /// Reports what `repair` would save and lose, without creating, moving or changing a file. It works on a read-only
  /// store. The report names no moved files.
  ///
  /// - Throws: `CacheError`: `busy` if another process has the store open, `ioFailed`, `permissionDenied`;
  ///   `unsupported` if the engine cannot tell.
  func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport

  /// Removes the store that `configuration` describes with everything in it, whatever its state. Opening it afterwards
  /// creates an empty store. Removal needs no disk space, so it works on a full disk.
  ///
  /// - Throws: `CacheError`: `busy` if a handle in this process or another one has the store open, and would go on
  ///   using the removed files; `cannotCreate` if what is there belongs to someone else; `unsupportedFormat` if the store
  ///   is of a later version; `permissionDenied`, `ioFailed`; `unsupported` if the engine cannot remove stores.
  func removeStore(_ configuration: EngineConfiguration) async throws(CacheError)
}

extension StoragePlugin {
  /// Throws `unsupported`: the engine does not implement inspection.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    throw unsupported("tell what there is of a store without opening it")
  }

  /// Throws `unsupported`: the engine does not implement repair.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    throw unsupported("repair a store")
  }

  /// Throws `unsupported`: the engine cannot preview a repair.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    throw unsupported("tell what a repair would save: it has no dry run")
  }

  /// Throws `unsupported`: the engine does not know what its store consists of.
  public func removeStore(_ configuration: EngineConfiguration) async throws(CacheError) {
    throw unsupported("remove a store that it cannot open")
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

/// Facts about a store, gathered without opening, creating or changing it.
public struct StoreInspection: Sendable, Hashable {
  /// Where the store is, or would be: a file, a folder or an address.
  public let path: String
  /// Whether the store exists.
  public let exists: Bool
  /// The store's files, with absolute paths; empty if the store does not exist or is on a server.
  public let files: [String]
  /// The version of the store's format; `nil` if there is no store, or if its version cannot be read.
  public let format: Int?
  /// The version that the engine writes. Opening a store of an older version for writing upgrades it.
  public let currentFormat: Int
  /// Damage that opening the store would hide or remove, in one line; `nil` if the engine finds none. The rest of the
  /// store may still be damaged.
  public let hiddenDamage: String?
  /// What users should know of the place of the store, such as that its server may drop what the store needs, in one line;
  /// `nil` if there is nothing.
  public let caution: String?

  /// An inspection. If `exists` is not given, the store exists if it has files.
  public init(
    path: String, exists: Bool? = nil, files: [String], format: Int?, currentFormat: Int, hiddenDamage: String? = nil,
    caution: String? = nil
  ) {
    self.path = path
    self.exists = exists ?? !files.isEmpty
    self.files = files
    self.format = format
    self.currentFormat = currentFormat
    self.hiddenDamage = hiddenDamage
    self.caution = caution
  }
}
