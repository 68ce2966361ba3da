internal import CCachectlPlugin
public import StorageSPI

/// An engine of somebody else's: a shared library with the one function of `cachectl_plugin.h`.
///
/// It is a plugin like any other; nothing else in the system knows that such libraries exist. What the library returns
/// is checked before it is believed. A library that is loaded stays so until the process ends.
public struct LibraryPlugin: StoragePlugin {
  /// What the library says of its engine.
  public let declaration: EngineDeclaration
  /// The absolute path of the library, free of symbolic links.
  public let path: String

  private let table: LibraryTable

  /// Loads the library at `path`, whose name is libcachectl-NAME.so; NAME is that of its engine.
  ///
  /// Loading runs code of the library. So before it is loaded, the file and every folder on the way to it are looked
  /// at: whoever could change one of them could run code as the user. Loading it again costs only that look.
  ///
  /// - Throws: `StorageError`: `permissionDenied` where others may change the library or a folder on the way to it,
  ///   `invalidPlugin` where it cannot be loaded, is of another version of the interface, or says of itself what no
  ///   engine may say.
  public init(loading path: String) throws(StorageError) {
    let file = try LibraryFile(path)
    let table = try LibraryRegistry.table(of: file)
    try file.require(
      table.declaration.name == file.engineName,
      "has the name of engine '\(file.engineName)' and holds '\(table.declaration.name)'",
      hint: "call the file libcachectl-\(table.declaration.name).so")
    self.table = table
    self.declaration = table.declaration
    self.path = file.path
  }

  /// Opens a store of the library's engine, on a thread that may wait.
  ///
  /// - Throws: `StorageError`: what the library reports, `failed` where it breaks the rules of the interface.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    let (table, clock) = (table, LibraryClock(configuration.clock))
    let store = try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(StorageError) in
      try LibraryStore(opening: configuration, table, clock)
    }
    return LibraryEngine(store)
  }

  /// Says what there is of a store, as the library does.
  ///
  /// - Throws: `StorageError`: what the library reports; `unsupported` where it cannot tell; `failed` where it breaks
  ///   the rules of the interface.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    guard let inspect = table.functions.inspect else {
      throw unsupported("tell what there is of a store without opening it")
    }
    let table = table
    return try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(StorageError) in
      try table.inspection(of: configuration, inspect)
    }
  }

  /// Has the library repair a store.
  ///
  /// - Throws: `StorageError`: what the library reports; `unsupported` where it cannot repair; `failed` where it breaks
  ///   the rules of the interface.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    guard let repair = table.functions.repair else { throw unsupported("repair a store") }
    let table = table
    return try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(StorageError) in
      try table.repair(configuration, plan, repair)
    }
  }

  /// Has the library say what a repair would save and lose.
  ///
  /// - Throws: `StorageError`: what the library reports; `unsupported` where it cannot tell; `failed` where it breaks
  ///   the rules of the interface.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    guard let preview = table.functions.previewRepair else {
      throw unsupported("tell what a repair would save: it has no dry run")
    }
    let table = table
    return try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(StorageError) in
      let report = try table.repair(configuration, plan, preview)
      guard report.movedTo.isEmpty else { throw .defect("moved files in a dry run", of: table.name) }
      return report
    }
  }

  /// Has the library remove a store. Where it cannot, the files go that it names when it is asked what there is.
  ///
  /// - Throws: `StorageError`: what the library reports; `unsupported` where it cannot even name them; `failed` where it
  ///   breaks the rules of the interface.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    guard let remove = table.functions.removeStore else {
      let files = try await inspect(configuration).files
      return try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(StorageError) in
        try LibraryRemoval.remove(files)
      }
    }
    let table = table
    try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(StorageError) in
      try table.removeStore(configuration, remove)
    }
  }

  private func unsupported(_ what: String) -> StorageError {
    StorageError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}
