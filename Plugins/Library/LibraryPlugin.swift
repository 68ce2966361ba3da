internal import CCachectlPlugin
internal import EngineSupport
internal import Platform
public import StorageSPI

/// A third-party engine: a shared library with the one function of `cachectl_plugin.h`.
///
/// It is a plugin like any other; nothing else in the system knows that such libraries exist. Everything that the
/// library returns is checked before use. A loaded library stays loaded until the process ends.
public struct LibraryPlugin: StoragePlugin {
  /// The library's declaration of its engine.
  public let declaration: EngineDeclaration
  /// The absolute path of the library, without symbolic links.
  public let path: String

  private let table: LibraryTable

  /// Loads the library at `path`. Its file name must be libcachectl-NAME.so, where NAME is the engine's name.
  ///
  /// Loading runs the library's code. So this first checks the file and every folder on the way to it: anyone who could
  /// change one of them could run code as the user. Loading a library again costs only this check.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if others could change the library or a folder on the way to it,
  ///   `invalidPlugin` if it cannot be loaded, has another version of the interface, or declares an invalid engine.
  public init(loading path: String) throws(CacheError) {
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

  /// Opens a store of the library's engine, on a thread that may block.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if the library breaks the rules of the interface.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let (table, clock) = (table, LibraryClock(configuration.clock))
    let store = try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(CacheError) in
      try LibraryStore(opening: configuration, table, clock)
    }
    return LibraryEngine(store)
  }

  /// Returns the library's report on a store.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot tell; `failed` if it breaks the rules of
  ///   the interface.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    guard let inspect = table.functions.inspect else {
      throw unsupported("tell what there is of a store without opening it")
    }
    let table = table
    return try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(CacheError) in
      try table.inspection(of: configuration, inspect)
    }
  }

  /// Makes the library remove a store. If it cannot, this removes the files that its inspection names.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot even name the files; `failed` if it
  ///   breaks the rules of the interface.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard suffix == nil else { throw .cannotMoveAside(declaration.name) }
    guard let remove = table.functions.removeStore else {
      let files = try await inspect(configuration).files
      try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(CacheError) in
        try LibraryRemoval.remove(files)
      }
      return []
    }
    let table = table
    try await LibraryCancellation.run(on: BlockingExecutor()) { () throws(CacheError) in
      try table.removeStore(configuration, remove)
    }
    return []
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

extension LibraryTable {
  /// Makes the library remove the store that `configuration` describes.
  func removeStore(
    _ configuration: EngineConfiguration, _ remove: LibraryFunctions.RemoveStore
  ) throws(CacheError) {
    let configuration = try LibraryConfiguration(
      configuration, for: declaration, LibraryClock(configuration.clock))
    try LibraryCall.make(self) { failure in configuration.withConfiguration { remove($0, failure) } }
  }
}

/// Removes a store's files on behalf of a library that cannot.
enum LibraryRemoval {
  static func remove(_ files: [String]) throws(CacheError) {
    for file in files where unlink(file) != 0 && errno != ENOENT {
      throw CacheError(
        [EACCES, EPERM, EROFS].contains(errno) ? .permissionDenied : .ioFailed,
        "\(file) cannot be removed: \(String(cString: strerror(errno)))",
        hint: "check the permissions of its folder")
    }
  }
}
