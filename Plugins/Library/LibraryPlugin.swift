internal import CCachectlPlugin
internal import EngineSupport
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

  private static let maximumFiles = 1 << 20

  /// Loads the library at `path`. Its file name must be libcachectl-NAME.so, where NAME is the engine's name.
  ///
  /// Loading runs the library's code. So this first checks the file and every directory on the way to it: anyone who could
  /// change one of them could run code as the user. Loading a library again costs only this check.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if others could change the library or a directory on the way to it,
  ///   `invalidPlugin` if it cannot be loaded, has another version of the interface, or declares an invalid engine.
  public init(loading path: String) throws(CacheError) {
    let file = try LibraryFile(path)
    table = try LibraryRegistry.table(of: file)
    declaration = table.declaration
    self.path = file.path
  }

  /// Opens a store of the library's engine, on a thread that may block.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if the library breaks the rules of the interface.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await BlockingExecutor().run { [table] () throws(CacheError) in
      try LibraryEngine(opening: configuration, table)
    }
  }

  /// Returns the library's report on a store.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot tell; `failed` if it breaks the rules of
  ///   the interface.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    guard let inspect = table.engine.inspect else { throw unsupported("describe a store without opening it") }
    let found = try await call(configuration, .inspection) {
      (found: inout [StoreInspection], lent) throws(LibraryDefect) in
      guard found.isEmpty else { throw LibraryDefect("described its store twice") }
      found.append(try StoreInspection(lent.loadUnaligned(as: cachectl_inspection.self)))
    } function: { configuration, context, failure in
      inspect(configuration, { LibraryCall.callback($0, .inspection, $1) }, context, failure)
    }
    guard let inspection = found.first else {
      throw .defect(LibraryDefect("said nothing of its store"), of: table.name)
    }
    return inspection
  }

  /// Makes the library remove a store, or move it aside.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot; `failed` if it breaks the rules of the
  ///   interface.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard let remove = table.engine.remove else { throw unsupported("remove a store") }
    return try await call(configuration, .text) {
      (moved: inout [String], lent) throws(LibraryDefect) in
      guard suffix != nil, moved.count < Self.maximumFiles else {
        throw LibraryDefect("moved files that it was to delete")
      }
      moved.append(try StoreInspection.path(lent.loadUnaligned(as: cachectl_bytes.self)))
    } function: { configuration, context, failure in
      let moved: cachectl_visit_text = { LibraryCall.callback($0, .text, $1) }
      guard let suffix else { return remove(configuration, nil, moved, context, failure) }
      return suffix.withCString { remove(configuration, $0, moved, context, failure) }
    }
  }

  /// Calls `function` on a thread that may block, and returns what `visit` has gathered.
  private func call<Element: Sendable>(
    _ configuration: EngineConfiguration, _ kind: LibraryCall.Kind,
    visit: @escaping @Sendable (inout [Element], UnsafeRawPointer) throws(LibraryDefect) -> Void,
    function:
      @escaping @Sendable (
        UnsafePointer<cachectl_configuration>, LibraryCall.Context, LibraryCall.Failure
      ) -> Int32
  ) async throws(CacheError) -> [Element] {
    try await BlockingExecutor().run { [table] () throws(CacheError) in
      let arena = LibraryArena()
      let clock = LibraryClock(configuration.clock)
      defer { withExtendedLifetime((arena, clock)) {} }
      let lent = try arena.configuration(configuration, for: table.declaration, clock)
      var gathered: [Element] = []
      try LibraryCall.make(table, kind) { _, item throws(LibraryDefect) in
        try visit(&gathered, item)
      } function: { context, failure in
        function(lent, context, failure)
      }
      return gathered
    }
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

extension StoreInspection {
  /// The inspection that a library lends.
  ///
  /// - Throws: `LibraryDefect` if it is invalid.
  fileprivate init(_ lent: cachectl_inspection) throws(LibraryDefect) {
    let versions = 0...Int64(Int32.max)
    guard lent.format == -1 || versions.contains(lent.format), versions.contains(lent.current_format) else {
      throw LibraryDefect("gave \(lent.format) and \(lent.current_format) as versions of its format")
    }
    guard lent.exists <= 1 else { throw LibraryDefect("does not say with 0 or 1 whether its store exists") }
    var files: [String] = []
    if lent.file_count != 0 {
      guard (1...1 << 20).contains(lent.file_count), let first = lent.files else {
        throw LibraryDefect("gave an invalid list of \(UInt(bitPattern: lent.file_count)) files")
      }
      for file in UnsafeBufferPointer(start: first, count: lent.file_count) { files.append(try Self.path(file)) }
    }
    self.init(
      path: try LibraryText.line(lent.path, "path"), exists: lent.exists == 1, files: files,
      format: lent.format < 0 ? nil : Int(lent.format), currentFormat: Int(lent.current_format),
      caution: lent.caution.length == 0 ? nil : try LibraryText.line(lent.caution, "caution"))
  }

  /// The absolute path `file`.
  fileprivate static func path(_ file: cachectl_bytes) throws(LibraryDefect) -> String {
    let path = try LibraryText.text(file, "path of a file")
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw LibraryDefect("gave a path of a file that is not absolute")
    }
    return path
  }
}
