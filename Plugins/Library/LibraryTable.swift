internal import CCachectlPlugin
internal import CacheBase
internal import EngineExport
internal import EngineAPI
internal import Synchronization

/// An engine in a loaded library: its functions and its declaration.
///
/// There is one per library, for as long as the process lives, so its address can be the context of every call:
/// whatever a library does with it, it stays valid.
///
/// `@unchecked Sendable`: the functions are constants of the library, which by the rules of the interface any thread
/// may call; everything else is immutable or atomic.
final class LibraryTable: @unchecked Sendable {
  /// The libraries that the process has loaded. They are never unloaded, because pointers into them are everywhere.
  private static let tables = Mutex<[LibraryFile: LibraryTable]>([:])

  /// A copy of the library's table. All required functions are present.
  let engine: cachectl_engine
  let declaration: EngineDeclaration
  private let strays = Atomic<Int>(0)

  /// The table of `file`, which is loaded first if necessary.
  ///
  /// - Throws: `CacheError` with the code `invalidPlugin`, which says what is wrong with it.
  static func of(_ file: LibraryFile) throws(CacheError) -> LibraryTable {
    try tables.withLock { tables throws(CacheError) in
      if let known = tables[file] { return known }
      let table = try LibraryTable(file)
      tables[file] = table
      return table
    }
  }

  private init(_ file: LibraryFile) throws(CacheError) {
    do throws(CacheError) {
      engine = try cachectl_engine(copying: try Self.pointer(file))
      declaration = try EngineDeclaration(checking: engine)
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

  private static func pointer(_ file: LibraryFile) throws(CacheError) -> UnsafeRawPointer {
    let plugin: @convention(c) (UInt32) -> UnsafeRawPointer?
    do throws(DynamicLibrary.Failure) {
      plugin = try DynamicLibrary(path: file.path).function(CACHECTL_PLUGIN_SYMBOL)
    } catch {
      throw .defect(TerminalText.line(error.problem))
    }
    guard let engine = plugin(CACHECTL_PLUGIN_ABI) else {
      throw .defect("does not work with version \(CACHECTL_PLUGIN_ABI) of the interface")
    }
    return engine
  }

  /// The engine's name.
  var name: String { declaration.name }

  /// The context of every call to the library.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Counts a callback that came with `context` while no call was in progress, if that is one of our contexts.
  static func countStray(_ context: UnsafeMutableRawPointer?) {
    _ = tables.withLock { tables in tables.values.first { $0.context == context }?.strays.add(1, ordering: .relaxed) }
  }

  /// Whether there were such callbacks since the last call of this function.
  @inline(__always)
  func takeStrays() -> Bool {
    if strays.load(ordering: .relaxed) == 0 { return false }
    return strays.exchange(0, ordering: .relaxed) != 0
  }
}

extension cachectl_engine {
  /// Copies the table at `pointer`.
  ///
  /// - Throws: `CacheError`: a defect if it has another version or size, or lacks a required function.
  fileprivate init(copying pointer: UnsafeRawPointer) throws(CacheError) {
    let size = pointer.loadUnaligned(as: UInt.self)
    let abi = pointer.loadUnaligned(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self)
    guard abi == CACHECTL_PLUGIN_ABI else {
      throw .defect("is of version \(abi) of the interface, and this is version \(CACHECTL_PLUGIN_ABI)")
    }
    guard size == MemoryLayout<cachectl_engine>.size else {
      throw .defect("has a table of \(size) bytes, which is no table of version \(abi)")
    }
    self = pointer.loadUnaligned(as: cachectl_engine.self)
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
  fileprivate init(checking engine: cachectl_engine) throws(CacheError) {
    let count = engine.option_count
    guard (0...256).contains(count), count == 0 || engine.options != nil else {
      throw .defect("declares \(UInt(bitPattern: count)) options and has no table of so many")
    }
    var options: [EngineOption] = []
    for option in UnsafeBufferPointer(start: engine.options, count: count) {
      options.append(try EngineOption(checking: option))
    }
    let capabilities = try LibraryText.list(engine.capabilities, "capability")
    self.init(
      name: try LibraryText.line(engine.name, "name"), version: try LibraryText.line(engine.version, "version"),
      summary: try LibraryText.line(engine.summary, "summary"),
      capabilities: Set(capabilities.map { EngineCapability(rawValue: $0) }), options: options)
  }
}

extension EngineOption {
  /// The option that a library declares as `option`.
  ///
  /// - Throws: `CacheError`: a defect if it cannot be read, or has no such value as its default.
  fileprivate init(checking option: cachectl_option) throws(CacheError) {
    let name = try LibraryText.line(option.name, "name of an option")
    let choices = try LibraryText.list(option.choices, "choice of option '\(name)'")
    let code = cachectl_option_kind(rawValue: option.kind)
    guard code.rawValue <= CACHECTL_STORE_NAME.rawValue, option.minimum <= option.maximum,
      option.minimum >= 0 || code == CACHECTL_INTEGER, !choices.isEmpty || code != CACHECTL_CHOICE,
      Set(choices).count == choices.count
    else {
      throw .defect(
        "declares option '\(name)' with kind \(option.kind), from \(option.minimum) to \(option.maximum), and "
          + "\(choices.count) choices, which does not fit together")
    }
    let range = option.minimum...option.maximum
    // In the order of their numbers.
    let kinds: [Kind] = [
      .text, .path, .integer(range), .size(range), .duration(range), .boolean, .choice(choices), .storeName,
    ]
    let kind = kinds[Int(code.rawValue)]
    var value: OptionValue?
    if option.default_value != nil {
      value = OptionValue(try LibraryText.text(option.default_value, "default of option '\(name)'"), kind)
    }
    self.init(
      name, kind, default: value, help: try LibraryText.line(option.help, "help of option '\(name)'"),
      isRequired: option.is_required != 0, isSecret: option.is_secret != 0)
    guard option.default_value == nil || value.map({ accepts($0) }) == true else {
      throw .defect("has a default of option '\(name)' that it does not take")
    }
  }
}

/// Texts from a library, which may contain anything.
enum LibraryText {
  /// The terminated text at `pointer`.
  ///
  /// - Throws: `CacheError`: a defect if there is none, or it is invalid UTF-8.
  static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(CacheError) -> String {
    guard let pointer else { throw .defect("has no \(what)") }
    guard let text = String(validatingCString: pointer) else { throw .defect("has a \(what) that is not UTF-8") }
    return text
  }

  /// The terminated text at `pointer`, which must be one printable line.
  static func line(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(CacheError) -> String {
    try line(try text(pointer, what), what)
  }

  /// `text`, which must be one printable line.
  static func line(_ text: String, _ what: String) throws(CacheError) -> String {
    guard !text.isEmpty, !text.unicodeScalars.contains(where: TerminalText.isHarmful) else {
      throw .defect("gave a \(what) that is not one line")
    }
    return text
  }

  /// The lines in the NULL-terminated list at `pointer`; empty if there is no list.
  ///
  /// - Throws: `CacheError`: a defect if there are more than 256, or one is not a line.
  static func list(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ what: String
  ) throws(CacheError) -> [String] {
    var texts: [String] = []
    while let item = pointer?[texts.count] {
      guard texts.count < 256 else { throw .defect("has more than 256 times a \(what)") }
      texts.append(try line(item, what))
    }
    return texts
  }

  /// The bytes before the first zero byte, or all of them, as one line in which escapes replace control characters.
  static func line(upToZeroIn bytes: UnsafeRawBufferPointer) -> String {
    TerminalText.line(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
  }
}
