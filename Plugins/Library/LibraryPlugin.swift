internal import CCachectlPlugin
internal import CacheBase
public import EngineAPI
internal import EngineExport

/// A third-party engine: a shared library with the one function of `cachectl_plugin.h`.
///
/// It is a plugin like any other; nothing else in the system knows that such libraries exist. A loaded library stays loaded
/// until the process ends.
public struct LibraryPlugin: StoragePlugin {
  /// The library's declaration of its engine.
  public let declaration: EngineDeclaration
  /// The absolute path of the library, without symbolic links.
  public let path: String
  /// A copy of the library's table: constants of the library, which by the rules of the interface any thread can call.
  /// All required functions are present.
  nonisolated(unsafe) let engine: cachectl_engine

  /// Loads the library at `path`. Its file name must be libcachectl-NAME.so, where NAME is the engine's name.
  ///
  /// Loading runs the library's code. So this first checks the file and every directory on the way to it: anyone who could
  /// change one of them could run code as the user.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if others could change the library or a directory on the way to it,
  ///   `invalidPlugin` if it cannot be loaded, has another version of the interface, or declares an invalid engine.
  public init(loading path: String) throws(CacheError) {
    let file = try LibraryFile(path)
    self.path = file.path
    do throws(CacheError) {
      engine = try cachectl_engine(loading: file.path)
      declaration = try EngineDeclaration(engine)
      guard declaration.name == file.engineName else {
        throw .defect(
          "has the name of engine '\(file.engineName)' and holds '\(declaration.name)': call the file "
            + "libcachectl-\(declaration.name).so")
      }
    } catch {
      throw CacheError(
        .invalidPlugin, "library \(file.path) \(error.message)",
        hint: "get one that is built for this system and this version of cachectl, or tell its author")
    }
  }

  /// Opens a store of the library's engine, on a thread that can block.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if the library breaks the rules of the interface.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await withConfiguration(configuration) { configuration, clock throws(CacheError) in
      var store: OpaquePointer?
      try call { _, failure in engine.open(configuration, &store, failure) }
      guard let store else { throw named(.defect("opened a store, and gave none")) }
      return LibraryEngine(self, store, clock)
    }
  }

  /// Returns the library's report on a store.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot tell; `failed` if it breaks the rules of
  ///   the interface.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    guard let inspect = engine.inspect else { throw unsupported("describe a store without opening it") }
    return try await withConfiguration(configuration) { configuration, _ throws(CacheError) in
      var found = cachectl_inspection(exists: 0, format: -1, current_format: 0)
      let texts = try texts { inspect(configuration, { LibraryCall.callback($0, .text($1)) }, $0, &found, $1) }
      guard let path = texts.first else { throw named(.defect("said nothing of its store")) }
      return StoreInspection(
        path: TerminalText.line(path), exists: found.exists != 0, files: try absolute(texts.dropFirst()),
        format: found.format < 0 ? nil : Int(found.format), currentFormat: Int(found.current_format))
    }
  }

  /// Makes the library remove a store, or move it aside.
  ///
  /// - Throws: `CacheError`: the library's error; `unsupported` if it cannot; `failed` if it breaks the rules of the
  ///   interface.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard let remove = engine.remove else { throw unsupported("remove a store") }
    return try await withConfiguration(configuration) { configuration, _ throws(CacheError) in
      let ending = suffix.flatMap { strdup($0) }
      defer { free(ending) }
      let moved = try texts { remove(configuration, ending, { LibraryCall.callback($0, .text($1)) }, $0, $1) }
      return try absolute(moved[...])
    }
  }

  /// `paths`, which must be absolute.
  private func absolute(_ paths: ArraySlice<String>) throws(CacheError) -> [String] {
    guard paths.allSatisfy({ $0.hasPrefix("/") && !$0.utf8.contains(0) }) else {
      throw named(.defect("gave a path of a file that is not absolute"))
    }
    return Array(paths)
  }

  /// Calls `body` on a thread that can block, with the configuration as a library receives it, and with the clock that
  /// must be there as long as the store is open.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a text contains a zero byte, which a C string cannot; what
  ///   `body` throws.
  private func withConfiguration<Output: Sendable>(
    _ configuration: EngineConfiguration,
    _ body: @escaping @Sendable (UnsafePointer<cachectl_configuration>, LibraryClock) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let clock = LibraryClock(configuration.clock)
    let texts = declaration.options.map { configuration.value($0.name)?.text }
    if let place = texts.firstIndex(where: { $0?.utf8.contains(0) == true }) {
      let name = declaration.options[place].name
      throw CacheError(.invalidOption, "option '\(name)' of backend \(declaration.name) has a zero byte in it")
    }
    return try await BlockingExecutor().run { () throws(CacheError) in
      let values = texts.map { $0.flatMap { UnsafePointer(strdup($0)) } }
      defer { for value in values { free(UnsafeMutableRawPointer(mutating: value)) } }
      return try values.withUnsafeBufferPointer { values throws(CacheError) in
        var lent = cachectl_configuration(values: values.baseAddress, now: LibraryClock.read, clock: clock.pointer)
        return try body(&lent, clock)
      }
    }
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

/// The clock that a library reads.
final class LibraryClock: Sendable {
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  /// The pointer that the library passes to `read`, as long as this object is there.
  var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The time of the clock at a pointer. A library that loses the pointer gets 1970.
  static let read: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { clock in
    guard let clock else { return 0 }
    return Unmanaged<LibraryClock>.fromOpaque(clock).takeUnretainedValue().clock.now.milliseconds
  }
}

extension cachectl_engine {
  /// Loads the library in the file `path`, and copies its table.
  ///
  /// - Throws: `CacheError`: a defect if that fails, or the table has another version or lacks a required function.
  fileprivate init(loading path: String) throws(CacheError) {
    let plugin: @convention(c) (UInt32) -> UnsafeRawPointer?
    do throws(DynamicLibrary.Failure) {
      plugin = try DynamicLibrary(path: path).function(CACHECTL_PLUGIN_SYMBOL)
    } catch {
      throw .defect(TerminalText.line(error.problem))
    }
    guard let table = plugin(CACHECTL_PLUGIN_ABI) else {
      throw .defect("does not work with version \(CACHECTL_PLUGIN_ABI) of the interface")
    }
    // The one field that is in the same place in each version.
    let abi = table.loadUnaligned(as: UInt32.self)
    guard abi == CACHECTL_PLUGIN_ABI else {
      throw .defect("is of version \(abi) of the interface, and this is version \(CACHECTL_PLUGIN_ABI)")
    }
    self = table.loadUnaligned(as: cachectl_engine.self)
    let required = [
      ("open", open != nil), ("close", close != nil), ("read", read != nil), ("apply", apply != nil),
      ("scan", scan != nil), ("count", count != nil), ("check", check != nil), ("compact", compact != nil),
    ]
    if let missing = required.first(where: { !$0.1 }) { throw .defect("has no function '\(missing.0)' in its table") }
  }
}

// The conformance suite checks what a declaration says; here is checked that it can be read.

extension EngineDeclaration {
  /// The declaration in the table `engine`.
  ///
  /// - Throws: `CacheError`: a defect if it cannot be read.
  fileprivate init(_ engine: cachectl_engine) throws(CacheError) {
    let count = engine.option_count
    guard (0...256).contains(count), count == 0 || engine.options != nil else {
      throw .defect("declares \(UInt(bitPattern: count)) options and has no table of so many")
    }
    let options = UnsafeBufferPointer(start: engine.options, count: count)
    self.init(
      name: text(engine.name), version: text(engine.version), summary: text(engine.summary),
      capabilities: Set(texts(engine.capabilities).map { EngineCapability(rawValue: $0) }),
      options: try options.map { option throws(CacheError) in try EngineOption(option) })
  }
}

extension EngineOption {
  /// The option that a library declares as `option`.
  ///
  /// - Throws: `CacheError`: a defect if its range is none, or its default is no such value.
  fileprivate init(_ option: cachectl_option) throws(CacheError) {
    let name = text(option.name)
    let code = cachectl_option_kind(rawValue: option.kind)
    guard code.rawValue <= CACHECTL_STORE_NAME.rawValue, option.minimum <= option.maximum,
      option.minimum >= 0 || code == CACHECTL_INTEGER
    else {
      throw .defect(
        "declares option '\(name)' with kind \(option.kind), from \(option.minimum) to \(option.maximum), which does not "
          + "fit together")
    }
    let range = option.minimum...option.maximum
    // In the order of their numbers.
    let kinds: [Kind] = [
      .text, .path, .integer(range), .size(range), .duration(range), .boolean, .choice(texts(option.choices)),
      .storeName,
    ]
    let kind = kinds[Int(code.rawValue)]
    let value = option.default_value.map { OptionValue(String(cString: $0), kind) }
    self.init(
      name, kind, default: value ?? nil, help: text(option.help), isRequired: option.is_required != 0,
      isSecret: option.is_secret != 0)
    if let value, value.map({ accepts($0) }) != true {
      throw .defect("has a default of option '\(name)' that it does not take")
    }
  }
}

/// The terminated text at `pointer`, as one line in which escapes replace control characters; empty if there is none.
private func text(_ pointer: UnsafePointer<CChar>?) -> String {
  pointer.map { TerminalText.line(String(cString: $0)) } ?? ""
}

/// The texts in the NULL-terminated list at `pointer`; empty if there is no list.
private func texts(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
  var texts: [String] = []
  while let item = pointer?[texts.count] { texts.append(text(item)) }
  return texts
}
