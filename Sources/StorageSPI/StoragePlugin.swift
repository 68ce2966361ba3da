/// Makes engines of one kind. It is all that the composition root knows of an engine.
public protocol StoragePlugin: Sendable {
  /// What the engine is called, can do and can be told.
  var declaration: EngineDeclaration { get }

  /// Opens the store that `configuration` describes, and makes it first where there is none.
  ///
  /// What it makes on disk is for the user alone (folders 0700, files 0600), missing parent folders among them. Opening
  /// a damaged store fails or succeeds, but never changes or removes what can still be read.
  ///
  /// - Throws: `StorageError`: `cannotCreate` where there is no store and none can be made, `damaged` or
  ///   `unsupportedFormat` where what is there is not a store of this engine, `permissionDenied`, `busy`, `unreachable`.
  func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine

  /// Looks at the store that `configuration` describes, without opening, making or changing it. An engine whose stores
  /// are on a server asks that server: one that does not answer fails as it does in `open(_:)`.
  ///
  /// - Throws: `StorageError`: `permissionDenied`, `ioFailed`, `unreachable`; `unsupported` where the engine cannot tell.
  func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection

  /// Saves every entry of a damaged store that can still be read: a new store takes its place in one step, and the
  /// damaged files are moved aside, never removed. A store in which nothing is wrong stays as it is.
  ///
  /// A crash in between leaves the damaged store or the repaired one in place, never none.
  ///
  /// - Throws: `StorageError`: `busy` where somebody else has the store open, `noSpace`, `ioFailed`,
  ///   `permissionDenied`; `unsupported` where the engine cannot repair. Then the store is as it was.
  func repair(_ configuration: EngineConfiguration, _ plan: RepairPlan) async throws(StorageError) -> RepairReport

  /// Says what `repair` would save and lose, without making, moving or changing a file. It works on a store that may
  /// only be read. The report names no files that were moved.
  ///
  /// - Throws: `StorageError`: `busy` where another process has the store open, `ioFailed`, `permissionDenied`;
  ///   `unsupported` where the engine cannot tell.
  func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport

  /// Removes the store that `configuration` describes with all that it holds, in whatever state it is: there is none
  /// afterwards, and opening it makes an empty one. It needs no room, so that it works on a full disk.
  ///
  /// - Throws: `StorageError`: `busy` where a handle, in this process or another, has the store open and would go on using
  ///   what was removed; `unsupportedFormat` where what is there is not a store of this engine, or of a later version;
  ///   `permissionDenied`, `ioFailed`; `unsupported` where the engine cannot do it.
  func removeStore(_ configuration: EngineConfiguration) async throws(StorageError)
}

extension StoragePlugin {
  /// Fails: the engine does not say how its store can be looked at.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    throw unsupported("tell what there is of a store without opening it")
  }

  /// Fails: the engine does not say how its store can be repaired.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    throw unsupported("repair a store")
  }

  /// Fails: the engine does not say what a repair would do.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    throw unsupported("tell what a repair would save: it has no dry run")
  }

  /// Fails: the engine does not say what its store consists of.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    throw unsupported("remove a store that it cannot open")
  }

  private func unsupported(_ what: String) -> StorageError {
    StorageError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}
