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
    guard table.engine.inspect != nil else { throw unsupported("tell what there is of a store without opening it") }
    return try await LibraryCancellation.run(on: BlockingExecutor()) { [table] () throws(CacheError) in
      try table.inspection(of: configuration)
    }
  }

  /// Makes the library remove a store, or move it aside.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot; `failed` if it breaks the rules of the
  ///   interface.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard table.engine.remove != nil else { throw unsupported("remove a store") }
    return try await LibraryCancellation.run(on: BlockingExecutor()) { [table] () throws(CacheError) in
      try table.remove(configuration, movingAside: suffix)
    }
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

extension LibraryTable {
  private static let maximumFiles = 1 << 20

  /// Makes the library remove the store that `configuration` describes, or move it aside.
  ///
  /// - Returns: where the files are that it has moved.
  fileprivate func remove(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) throws(CacheError) -> [String] {
    let configuration = try LibraryConfiguration(
      configuration, for: declaration, LibraryClock(configuration.clock))
    var arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    let lentSuffix = suffix.flatMap { arena.terminated($0) }
    var moved: [String] = []
    try LibraryCall.make(.removal, self) { lent, _ throws(LibraryDefect) in
      guard let lent = lent?.assumingMemoryBound(to: cachectl_bytes.self), suffix != nil,
        moved.count < Self.maximumFiles
      else { throw LibraryDefect("moved files that it was to delete") }
      moved.append(try Self.path(lent.pointee))
    } function: { context, failure in
      configuration.withConfiguration { configuration in
        engine.remove(
          configuration, lentSuffix,
          { context, path in withUnsafePointer(to: path) { LibraryCall.callback(context, .removal, $0) } }, context,
          failure)
      }
    }
    return moved
  }

  /// The library's report on the store that `configuration` describes.
  fileprivate func inspection(of configuration: EngineConfiguration) throws(CacheError) -> StoreInspection {
    let configuration = try LibraryConfiguration(
      configuration, for: declaration, LibraryClock(configuration.clock))
    var inspection: StoreInspection?
    try LibraryCall.make(.inspection, self) { lent, _ throws(LibraryDefect) in
      guard inspection == nil else { throw LibraryDefect("said twice what there is of its store") }
      let lent = lent?.assumingMemoryBound(to: cachectl_inspection.self).pointee
      guard let lent, lent.size >= MemoryLayout<cachectl_inspection>.size else {
        throw LibraryDefect("said nothing that can be understood of its store")
      }
      inspection = try Self.inspection(lent)
    } function: { context, failure in
      configuration.withConfiguration {
        engine.inspect($0, { LibraryCall.callback($0, .inspection, $1) }, context, failure)
      }
    }
    guard let inspection else { throw .defect("said nothing of its store", of: name) }
    return inspection
  }

  private static func inspection(_ lent: cachectl_inspection) throws(LibraryDefect) -> StoreInspection {
    let path = try LibraryText.text(try lent.path.checked("path"), "path")
    guard LibraryText.isLine(path) else { throw LibraryDefect("gave a path that is not one line") }
    guard (-1...Int64(Int32.max)).contains(lent.format), (0...Int64(Int32.max)).contains(lent.current_format) else {
      throw LibraryDefect("gave \(lent.format) and \(lent.current_format) as versions of its format")
    }
    return StoreInspection(
      path: path, exists: try exists(lent.presence), files: try files(lent),
      format: lent.format < 0 ? nil : Int(lent.format),
      currentFormat: Int(lent.current_format), caution: try line(lent.caution, "caution"))
  }

  /// The text `bytes`; `nil` if it is empty.
  private static func line(_ bytes: cachectl_bytes, _ what: String) throws(LibraryDefect) -> String? {
    guard bytes.length > 0 else { return nil }
    let text = try LibraryText.text(try bytes.checked(what), what)
    guard LibraryText.isLine(text) else { throw LibraryDefect("gave a \(what) that is not one line") }
    return text
  }

  /// `nil` if the files decide.
  private static func exists(_ presence: UInt32) throws(LibraryDefect) -> Bool? {
    switch presence {
    case CACHECTL_AS_FILES_TELL.rawValue: nil
    case CACHECTL_PRESENT.rawValue: true
    case CACHECTL_ABSENT.rawValue: false
    default: throw LibraryDefect("gave \(presence) as the presence of its store")
    }
  }

  private static func files(_ lent: cachectl_inspection) throws(LibraryDefect) -> [String] {
    guard lent.file_count != 0 else { return [] }
    guard (0...maximumFiles).contains(lent.file_count), let first = lent.files else {
      throw LibraryDefect("gave a list of \(UInt(bitPattern: lent.file_count)) files that is none")
    }
    var files: [String] = []
    for file in UnsafeBufferPointer(start: first, count: lent.file_count) { files.append(try path(file)) }
    return files
  }

  /// The absolute path `file`.
  private static func path(_ file: cachectl_bytes) throws(LibraryDefect) -> String {
    let path = try LibraryText.text(try file.checked("path of a file"), "path of a file")
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw LibraryDefect("gave a path of a file that is not absolute")
    }
    return path
  }
}

/// A configuration in the form that a library receives.
struct LibraryConfiguration: ~Copyable {
  private var arena = LibraryArena()
  private var values: [cachectl_value] = []
  private let clock: LibraryClock

  /// Copies the values of the options that `declaration` declares, and the clock.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a text contains a zero byte, which a C string cannot.
  init(
    _ source: EngineConfiguration, for declaration: EngineDeclaration, _ clock: LibraryClock
  ) throws(CacheError) {
    self.clock = clock
    for option in declaration.options {
      guard let value = source.value(of: option) else { continue }
      if case .text(let text) = value, text.utf8.contains(0) {
        throw CacheError(
          .invalidOption, "option '\(option.name)' of backend \(declaration.name) has a zero byte in it")
      }
      values.append(Self.value(value, of: option, &arena))
    }
  }

  /// Lends the configuration to `body`.
  func withConfiguration(_ body: (UnsafePointer<cachectl_configuration>) -> Int32) -> Int32 {
    values.withUnsafeBufferPointer { values in
      let configuration = cachectl_configuration(
        size: MemoryLayout<cachectl_configuration>.size, values: values.baseAddress, value_count: values.count,
        value_size: MemoryLayout<cachectl_value>.stride, now: LibraryClock.now, clock: clock.context,
        is_cancelled: { _ in LibraryCancellation.isOfThisThread ? 1 : 0 })
      return withUnsafePointer(to: configuration, body)
    }
  }

  private static func value(
    _ value: OptionValue, of option: EngineOption, _ arena: inout LibraryArena
  ) -> cachectl_value {
    let name = arena.terminated(option.name)
    return switch value {
    case .text(let text): cachectl_value(name: name, text: arena.terminated(text), number: 0)
    case .integer(let number): cachectl_value(name: name, text: nil, number: number)
    case .boolean(let isTrue): cachectl_value(name: name, text: nil, number: isTrue ? 1 : 0)
    }
  }
}

extension EngineConfiguration {
  /// The value of `option`; `nil` if it has none.
  fileprivate func value(of option: EngineOption) -> OptionValue? {
    switch option.kind {
    case .text, .path, .choice, .storeName: (try? text(option.name)).map { .text($0) }
    case .integer, .size, .duration: (try? integer(option.name)).map { .integer($0) }
    case .boolean: (try? boolean(option.name)).map { .boolean($0) }
    }
  }
}

/// The clock in the form that a library receives. It lives until `close` has returned.
final class LibraryClock: Sendable {
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  /// The argument that the library passes to `now`.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The function that a library calls; without a clock it returns 1970.
  static let now: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { context in
    guard let context else { return 0 }
    return Unmanaged<LibraryClock>.fromOpaque(context).takeUnretainedValue().clock.now.milliseconds
  }
}
