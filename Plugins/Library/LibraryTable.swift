internal import CCachectlPlugin
internal import Platform
internal import StorageSPI
internal import Synchronization

/// The libraries that the process has loaded. They are never unloaded, because pointers into them are everywhere.
enum LibraryRegistry {
  private static let tables = Mutex<[LibraryFile: LibraryTable]>([:])

  /// The table of `file`, which is loaded first if necessary.
  ///
  /// - Throws: `CacheError` with the code `invalidPlugin`.
  static func table(of file: LibraryFile) throws(CacheError) -> LibraryTable {
    try tables.withLock { tables throws(CacheError) in
      if let known = tables[file] { return known }
      let table = try LibraryTable(file)
      tables[file] = table
      return table
    }
  }

  /// Counts a callback that came with `context` while no call was in progress, if that is one of our contexts.
  static func countStray(_ context: UnsafeMutableRawPointer?) {
    tables.withLock { tables in tables.values.first { $0.context == context }?.countStray() }
  }
}

/// An engine in a loaded library: its functions and its declaration.
///
/// There is one per library, for as long as the process lives, so its address can be the context of every call:
/// whatever a library does with it, it stays valid.
///
/// `@unchecked Sendable`: the functions are constants of the library, which by the rules of the interface any thread
/// may call; everything else is immutable or atomic.
final class LibraryTable: @unchecked Sendable {
  /// A copy of the library's table. All required functions are present.
  let engine: cachectl_engine
  let declaration: EngineDeclaration
  /// The thread-specific key for the thread's current call.
  let callKey: pthread_key_t
  private let strays = Atomic<Int>(0)

  /// Loads `file`, and checks its table.
  ///
  /// - Throws: `CacheError` with the code `invalidPlugin`, which says what is wrong with it.
  init(_ file: LibraryFile) throws(CacheError) {
    guard let callKey = LibraryCall.threadKey else {
      throw CacheError(.failed, "library \(file.path) cannot be used: no key for data of threads is left")
    }
    self.callKey = callKey
    do throws(LibraryDefect) {
      engine = try cachectl_engine(copying: try Self.load(file))
      declaration = try EngineDeclaration(engine)
      guard declaration.name == file.engineName else {
        throw LibraryDefect(
          "has the name of engine '\(file.engineName)' and holds '\(declaration.name)': call the file "
            + "libcachectl-\(declaration.name).so")
      }
    } catch {
      throw CacheError(
        .invalidPlugin, "library \(file.path) \(error.text)",
        hint: "get one that is built for this system and this version of cachectl, or tell its author")
    }
  }

  /// The engine's name.
  var name: String { declaration.name }

  /// Whether a read may wait for a disk or a network.
  var readsWait: Bool { engine.reads_wait != 0 }

  /// The context of every call to the library.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Records a callback at a time when none was allowed.
  func countStray() { strays.add(1, ordering: .relaxed) }

  /// Whether there were unexpected callbacks since the last call of this function.
  @inline(__always)
  func takeStrays() -> Bool {
    if strays.load(ordering: .relaxed) == 0 { return false }
    return strays.exchange(0, ordering: .relaxed) != 0
  }

  private static func load(_ file: LibraryFile) throws(LibraryDefect) -> UnsafeRawPointer {
    guard let library = dlopen(file.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
      let message = dlerror().map { LibraryText.cleaned(String(cString: $0)) } ?? "for an unknown reason"
      // The loader's message begins with the path.
      let path = "\(file.path): "
      throw LibraryDefect(
        "cannot be loaded: \(message.hasPrefix(path) ? String(message.dropFirst(path.count)) : message)")
    }
    guard let symbol = dlsym(library, CACHECTL_PLUGIN_SYMBOL) else {
      throw LibraryDefect("has no function \(CACHECTL_PLUGIN_SYMBOL)")
    }
    let function = unsafeBitCast(symbol, to: (@convention(c) (UInt32) -> UnsafeRawPointer?).self)
    guard let engine = function(CACHECTL_PLUGIN_ABI) else {
      throw LibraryDefect("does not work with version \(CACHECTL_PLUGIN_ABI) of the interface")
    }
    return engine
  }
}

extension cachectl_engine {
  /// Copies the table at `pointer`.
  ///
  /// - Throws: `LibraryDefect` if it has another version or size, or lacks a required function.
  fileprivate init(copying pointer: UnsafeRawPointer) throws(LibraryDefect) {
    let size = pointer.loadUnaligned(as: UInt.self)
    let abi = pointer.loadUnaligned(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self)
    guard abi == CACHECTL_PLUGIN_ABI else {
      throw LibraryDefect("is of version \(abi) of the interface, and this is version \(CACHECTL_PLUGIN_ABI)")
    }
    guard size == MemoryLayout<cachectl_engine>.size else {
      throw LibraryDefect("has a table of \(size) bytes, which is no table of version \(abi)")
    }
    self = pointer.loadUnaligned(as: cachectl_engine.self)
    let required = [
      ("open", open != nil), ("close", close != nil), ("read", read != nil), ("apply", apply != nil),
      ("scan", scan != nil), ("count", count != nil), ("check", check != nil), ("compact", compact != nil),
    ]
    if let missing = required.first(where: { !$0.1 }) {
      throw LibraryDefect("has no function '\(missing.0)' in its table")
    }
  }
}

extension EngineDeclaration {
  /// The declaration in the table `engine`.
  ///
  /// - Throws: `LibraryDefect` if the declaration is invalid.
  fileprivate init(_ engine: cachectl_engine) throws(LibraryDefect) {
    let name = try LibraryText.text(engine.name, "name")
    guard CacheKey.isNamespace(name) else {
      throw LibraryDefect("has a name that is not lower-case letters and digits")
    }
    guard engine.reads_wait <= 1 else { throw LibraryDefect("does not say with 0 or 1 whether its reads wait") }
    let capabilities = try LibraryText.list(engine.capabilities, "capability")
    if let wrong = capabilities.first(where: { !LibraryText.isName($0, hyphens: true) }) {
      throw LibraryDefect("has a capability \(wrong.debugDescription), which is not in kebab case")
    }
    for (name, isPresent) in [
      ("counts-changes", engine.change_count != nil), ("follows-changes", engine.change_mark != nil),
    ] where capabilities.contains(name) != isPresent {
      throw LibraryDefect("has either the capability \(name) or the function for it")
    }
    let count = engine.option_count
    guard (0...256).contains(count), let first = engine.options ?? (count == 0 ? UnsafePointer(bitPattern: 8) : nil)
    else {
      throw LibraryDefect("declares \(UInt(bitPattern: count)) options and has no table of so many")
    }
    var options: [EngineOption] = []
    for option in UnsafeBufferPointer(start: first, count: count) {
      let option = try EngineOption(option)
      guard !options.contains(where: { $0.name == option.name }) else {
        throw LibraryDefect("declares option '\(option.name)' twice")
      }
      options.append(option)
    }
    self.init(
      name: name, version: try LibraryText.line(engine.version, "version"),
      summary: try LibraryText.line(engine.summary, "summary"),
      capabilities: Set(capabilities.map { EngineCapability(rawValue: $0) }), options: options)
  }
}

extension EngineOption {
  /// The option that a library declares as `option`.
  ///
  /// - Throws: `LibraryDefect` if the declaration is invalid.
  fileprivate init(_ option: cachectl_option) throws(LibraryDefect) {
    let name = try LibraryText.text(option.name, "name of an option")
    guard LibraryText.isName(name) else {
      throw LibraryDefect("declares option \(name.debugDescription), which is not in camel case")
    }
    guard option.is_required <= 1, option.is_secret <= 1 else {
      throw LibraryDefect("declares option '\(name)' neither with 0 nor with 1 as required or secret")
    }
    let kind = try Kind(option, name)
    var value: OptionValue?
    if option.default_value != nil {
      let text = try LibraryText.text(option.default_value, "default of option '\(name)'")
      switch kind {
      case .text, .path, .choice, .storeName: value = .text(text)
      case .integer, .size, .duration: value = Int64(text).map { .integer($0) }
      case .boolean: value = Bool(text).map { .boolean($0) }
      }
    }
    self.init(
      name, kind, default: value, help: try LibraryText.line(option.help, "help of option '\(name)'"),
      isRequired: option.is_required == 1, isSecret: option.is_secret == 1)
    guard option.default_value == nil || value.map({ accepts($0) }) == true else {
      throw LibraryDefect("has a default of option '\(name)' that it does not take")
    }
    guard value == nil || !isSecret else {
      throw LibraryDefect("declares option '\(name)' as secret and with a default")
    }
  }
}

extension EngineOption.Kind {
  fileprivate init(_ option: cachectl_option, _ name: String) throws(LibraryDefect) {
    let isRange = option.minimum <= option.maximum
    let range = isRange ? option.minimum...option.maximum : 0...0
    let choices = try LibraryText.list(option.choices, "choice of option '\(name)'")
    switch cachectl_option_kind(rawValue: option.kind) {
    case CACHECTL_TEXT: self = .text
    case CACHECTL_PATH: self = .path
    case CACHECTL_INTEGER where isRange: self = .integer(range)
    case CACHECTL_SIZE where isRange && option.minimum >= 0: self = .size(range)
    case CACHECTL_DURATION where isRange && option.minimum >= 0: self = .duration(range)
    case CACHECTL_BOOLEAN: self = .boolean
    case CACHECTL_CHOICE where !choices.isEmpty && Set(choices).count == choices.count: self = .choice(choices)
    case CACHECTL_STORE_NAME: self = .storeName
    default:
      throw LibraryDefect(
        "declares option '\(name)' with kind \(option.kind), from \(option.minimum) to \(option.maximum), and "
          + "\(choices.count) choices, which does not fit together")
    }
  }
}

extension LibraryText {
  /// The text at `pointer`, which must be a line for people: not empty, and without a final full stop.
  fileprivate static func line(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(LibraryDefect) -> String {
    let text = try text(pointer, what)
    guard isLine(text), !text.hasSuffix(".") else {
      throw LibraryDefect("has a \(what) that is not one line without a final full stop")
    }
    return text
  }

  /// The lines in the NULL-terminated list at `pointer`; empty if there is no list.
  ///
  /// - Throws: `LibraryDefect` if there are more than 256, or one is not a line.
  fileprivate static func list(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ what: String
  ) throws(LibraryDefect) -> [String] {
    guard var next = pointer else { return [] }
    var texts: [String] = []
    while let item = next.pointee {
      guard texts.count < 256 else { throw LibraryDefect("has more than 256 times a \(what)") }
      texts.append(try line(item, what))
      next += 1
    }
    return texts
  }
}
