internal import CCachectlPlugin
public import EngineAPI
internal import CacheBase
internal import EngineExport

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
  /// Loading runs the library's code. So this first checks the file and every directory on the way to it: anyone who could
  /// change one of them could run code as the user. Loading a library again costs only this check.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if others could change the library or a directory on the way to it,
  ///   `invalidPlugin` if it cannot be loaded, has another version of the interface, or declares an invalid engine.
  public init(loading path: String) throws(CacheError) {
    let file = try LibraryFile(path)
    table = try LibraryTable.of(file)
    declaration = table.declaration
    self.path = file.path
  }

  /// Opens a store of the library's engine, on a thread that may block.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if the library breaks the rules of the interface.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await call(configuration) { configuration throws(CacheError) in try LibraryEngine(opening: configuration, table)
    }
  }

  /// Returns the library's report on a store.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot tell; `failed` if it breaks the rules of
  ///   the interface.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    guard let inspect = table.engine.inspect else { throw unsupported("describe a store without opening it") }
    return try await call(configuration) { configuration throws(CacheError) in
      var files: [String] = []
      var found: StoreInspection?
      try table.call { kind, lent throws(CacheError) in
        if found != nil { throw .defect("continued after the description of its store") }
        if kind == .text {
          guard files.count < StoreInspection.maximumFiles else {
            throw .defect("gave more than \(StoreInspection.maximumFiles) files")
          }
          files.append(try StoreInspection.path(checking: lent.assumingMemoryBound(to: cachectl_bytes.self).pointee))
        } else {
          let inspection = lent.assumingMemoryBound(to: cachectl_inspection.self).pointee
          found = try StoreInspection(checking: inspection, files)
        }
      } function: { context, failure in
        inspect(
          configuration.pointer, { LibraryCall.callback($0, .text, $1) }, { LibraryCall.callback($0, .inspection, $1) },
          context, failure)
      }
      guard let found else { throw table.named(.defect("said nothing of its store")) }
      return found
    }
  }

  /// Makes the library remove a store, or move it aside.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot; `failed` if it breaks the rules of the
  ///   interface.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard let remove = table.engine.remove else { throw unsupported("remove a store") }
    return try await call(configuration) { configuration throws(CacheError) in
      let ending = suffix.flatMap { strdup($0) }
      defer { free(ending) }
      // What is deleted is not moved.
      let limit = suffix == nil ? 0 : StoreInspection.maximumFiles
      return try table.gather(.text, limit: limit, StoreInspection.path(checking:)) { context, failure in
        remove(configuration.pointer, ending, { LibraryCall.callback($0, .text, $1) }, context, failure)
      }
    }
  }

  /// Calls `body` on a thread that may block.
  private func call<Output: Sendable>(
    _ configuration: EngineConfiguration,
    _ body: @escaping @Sendable (LibraryConfiguration) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    try await BlockingExecutor().run { [declaration] () throws(CacheError) in
      let configuration = try LibraryConfiguration(configuration, for: declaration)
      defer { withExtendedLifetime(configuration) {} }
      return try body(configuration)
    }
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

/// A configuration in the form that a library receives. It also is the clock that the library reads.
///
/// `@unchecked Sendable`: nothing changes after the initializer.
final class LibraryConfiguration: @unchecked Sendable {
  /// The structure that the library gets. It can be used as long as this object is there.
  let pointer: UnsafeMutablePointer<cachectl_configuration>
  private let clock: any WallClock
  private let values: UnsafeMutableBufferPointer<cachectl_value>

  /// Copies the values of the options that `declaration` declares.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a text contains a zero byte, which a C string cannot.
  init(_ configuration: EngineConfiguration, for declaration: EngineDeclaration) throws(CacheError) {
    var texts: [(name: String, text: String)] = []
    for option in declaration.options {
      guard let text = configuration.value(option.name)?.text else { continue }
      guard !text.utf8.contains(0) else {
        throw CacheError(.invalidOption, "option '\(option.name)' of backend \(declaration.name) has a zero byte in it")
      }
      texts.append((option.name, text))
    }
    clock = configuration.clock
    pointer = .allocate(capacity: 1)
    values = .allocate(capacity: texts.count)
    _ = values.initialize(from: texts.map { cachectl_value(name: strdup($0.name), text: strdup($0.text)) })
    let now: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { clock in
      // A library that loses the pointer gets 1970.
      guard let clock else { return 0 }
      return Unmanaged<LibraryConfiguration>.fromOpaque(clock).takeUnretainedValue().clock.now.milliseconds
    }
    pointer.initialize(
      to: cachectl_configuration(
        values: values.baseAddress, value_count: values.count, now: now,
        clock: Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit {
    for value in values {
      free(UnsafeMutableRawPointer(mutating: value.name))
      free(UnsafeMutableRawPointer(mutating: value.text))
    }
    values.deallocate()
    pointer.deallocate()
  }
}
