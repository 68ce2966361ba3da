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
      let table = try LibraryTable(try engine(of: file), file)
      tables[file] = table
      return table
    }
  }

  /// Counts a callback that came with `context` while no call was in progress, if that is one of our contexts.
  static func countStray(_ context: UnsafeMutableRawPointer) {
    tables.withLock { tables in
      tables.values.first { $0.context == context }?.countStray()
    }
  }

  private static func engine(of file: LibraryFile) throws(CacheError) -> UnsafeRawPointer {
    guard let library = dlopen(file.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
      throw CacheError(
        .invalidPlugin, "library \(file.path) cannot be loaded: \(lastError(file))",
        hint: "build it for this system, with all that it needs")
    }
    guard let symbol = dlsym(library, CACHECTL_PLUGIN_SYMBOL) else {
      throw CacheError(
        .invalidPlugin, "library \(file.path) has no function \(CACHECTL_PLUGIN_SYMBOL)",
        hint: "define it as cachectl_plugin.h describes")
    }
    let function = unsafeBitCast(symbol, to: (@convention(c) (UInt32) -> UnsafeRawPointer?).self)
    guard let engine = function(CACHECTL_PLUGIN_ABI) else {
      throw CacheError(
        .invalidPlugin, "library \(file.path) does not work with version \(CACHECTL_PLUGIN_ABI) of the interface",
        hint: "get one that is built for this version of cachectl")
    }
    return engine
  }

  /// The loader's message, without the path at its start.
  private static func lastError(_ file: LibraryFile) -> String {
    guard let message = dlerror() else { return "for an unknown reason" }
    let text = LibraryText.cleaned(UnsafeRawBufferPointer(start: message, count: strlen(message)))
    let prefix = file.path + ": "
    return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
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

  /// Checks the table at `pointer`, which came from `file`.
  ///
  /// - Throws: `CacheError` with the code `invalidPlugin`, which says what is wrong with it.
  init(_ pointer: UnsafeRawPointer, _ file: LibraryFile) throws(CacheError) {
    guard let callKey = LibraryCall.threadKey else {
      throw CacheError(.failed, "library \(file.path) cannot be used: no key for data of threads is left")
    }
    self.callKey = callKey
    do throws(LibraryDefect) {
      engine = try cachectl_engine(copying: pointer)
      declaration = try EngineDeclaration(engine)
    } catch {
      throw CacheError(
        .invalidPlugin, "library \(file.path) \(error.text)",
        hint: "get one that is built for this version of cachectl, or tell its author")
    }
  }

  /// The engine's name.
  var name: String { declaration.name }

  /// Whether a read may wait for a disk or a network.
  var readsWait: Bool { engine.flags & CACHECTL_READS_WAIT != 0 }

  /// Whether the library reads several entries at once.
  var readsBatches: Bool { engine.read_all != nil }

  /// Whether the library evicts: it has both functions for that.
  var evicts: Bool { engine.apply_evicting != nil && engine.add_uses != nil }

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
}

extension cachectl_engine {
  /// No valid table is this large: a greater number is something else.
  private static let maximumSize = 65_536

  /// Copies the table at `pointer` as far as it is known here.
  ///
  /// - Throws: `LibraryDefect` if it has another version, is not a table, or lacks a required function.
  init(copying pointer: UnsafeRawPointer) throws(LibraryDefect) {
    let size = pointer.loadUnaligned(as: Int.self)
    let abi = pointer.loadUnaligned(fromByteOffset: MemoryLayout<Int>.size, as: UInt32.self)
    guard abi == CACHECTL_PLUGIN_ABI else {
      throw LibraryDefect("is of version \(abi) of the interface, and this is version \(CACHECTL_PLUGIN_ABI)")
    }
    let sizes = MemoryLayout<cachectl_engine>.size...Self.maximumSize
    guard sizes.contains(size), size % MemoryLayout<Int>.alignment == 0 else {
      throw LibraryDefect("has a table of \(UInt(bitPattern: size)) bytes, which is no table of version \(abi)")
    }
    self = pointer.loadUnaligned(as: cachectl_engine.self)
    let required = [
      ("open", open != nil), ("close", close != nil), ("read", read != nil), ("apply", apply != nil),
      ("scan", scan != nil), ("statistics", statistics != nil), ("check_integrity", check_integrity != nil),
      ("compact", compact != nil),
    ]
    for (name, isPresent) in required where !isPresent {
      throw LibraryDefect("has no function '\(name)' in its table")
    }
  }
}

extension EngineDeclaration {
  private static let maximumCapabilities = 64
  private static let maximumOptions = 256
  private static let maximumOptionSize = 4_096

  /// The declaration in the table `engine`.
  ///
  /// - Throws: `LibraryDefect` if the declaration is invalid.
  init(_ engine: cachectl_engine) throws(LibraryDefect) {
    let name = try LibraryText.text(engine.name, "name")
    guard CacheKey.isNamespace(name) else {
      throw LibraryDefect("has a name that is not lower-case letters and digits")
    }
    self.init(
      name: name, version: try LibraryText.line(engine.version, "version"),
      summary: try LibraryText.line(engine.summary, "summary"), capabilities: try Self.capabilities(engine),
      options: try Self.options(engine))
  }

  private static func capabilities(_ engine: cachectl_engine) throws(LibraryDefect) -> Set<EngineCapability> {
    let names = try LibraryText.list(engine.capabilities, "capability", limit: maximumCapabilities)
    if let wrong = names.first(where: { !LibraryText.isKebabCase($0) }) {
      throw LibraryDefect("has a capability \(wrong.debugDescription), which is not in kebab case")
    }
    return Set(names.map { EngineCapability(rawValue: $0) })
  }

  private static func options(_ engine: cachectl_engine) throws(LibraryDefect) -> [EngineOption] {
    let (count, size) = (engine.option_count, engine.option_size)
    guard count != 0 else { return [] }
    guard (0...maximumOptions).contains(count) else {
      throw LibraryDefect("declares \(UInt(bitPattern: count)) options; \(maximumOptions) are the most")
    }
    let sizes = MemoryLayout<cachectl_option>.stride...maximumOptionSize
    guard sizes.contains(size), size % MemoryLayout<cachectl_option>.alignment == 0 else {
      throw LibraryDefect(
        "declares options of \(UInt(bitPattern: size)) bytes each, which are no options of this version")
    }
    guard let first = UnsafeRawPointer(engine.options) else { throw LibraryDefect("has no table of its options") }
    var options: [EngineOption] = []
    for index in 0..<count {
      let option = try EngineOption((first + index * size).loadUnaligned(as: cachectl_option.self))
      guard !options.contains(where: { $0.name == option.name }) else {
        throw LibraryDefect("declares option '\(option.name)' twice")
      }
      options.append(option)
    }
    return options
  }
}

extension EngineOption {
  /// The option that a library declares as `option`.
  ///
  /// - Throws: `LibraryDefect` if the declaration is invalid.
  fileprivate init(_ option: cachectl_option) throws(LibraryDefect) {
    let name = try LibraryText.text(option.name, "name of an option")
    guard LibraryText.isCamelCase(name) else {
      throw LibraryDefect("declares option \(name.debugDescription), which is not in camel case")
    }
    let what = "option '\(name)'"
    guard option.is_required <= 1, option.is_secret <= 1 else {
      throw LibraryDefect("declares \(what) neither with 0 nor with 1 as required or secret")
    }
    let kind = try Kind(option, what)
    let text: String? =
      if let text = option.default_value { try LibraryText.text(text, "default of \(what)") } else { nil }
    let value: OptionValue? = if let text { try kind.value(text, what) } else { nil }
    self.init(
      name, kind, default: value, help: try LibraryText.line(option.help, "help of \(what)"),
      isRequired: option.is_required == 1, isSecret: option.is_secret == 1)
    guard value.map({ accepts($0) }) ?? true else {
      throw LibraryDefect("has a default of \(what) that it does not take")
    }
    guard value == nil || !isSecret else { throw LibraryDefect("declares \(what) as secret and with a default") }
  }
}

extension EngineOption.Kind {
  private static let maximumChoices = 256

  fileprivate init(_ option: cachectl_option, _ what: String) throws(LibraryDefect) {
    switch cachectl_option_kind(rawValue: option.kind) {
    case CACHECTL_TEXT: self = .text
    case CACHECTL_PATH: self = .path
    case CACHECTL_INTEGER: self = .integer(try Self.range(option, from: .min, what))
    case CACHECTL_SIZE: self = .size(try Self.range(option, from: 0, what))
    case CACHECTL_DURATION: self = .duration(try Self.range(option, from: 0, what))
    case CACHECTL_BOOLEAN: self = .boolean
    case CACHECTL_CHOICE: self = .choice(try Self.choices(option, what))
    case CACHECTL_STORE_NAME: self = .storeName
    default: throw LibraryDefect("declares \(what) with kind \(option.kind), which is unknown")
    }
  }

  private static func range(
    _ option: cachectl_option, from least: Int64, _ what: String
  ) throws(LibraryDefect) -> ClosedRange<Int64> {
    guard least <= option.minimum, option.minimum <= option.maximum else {
      throw LibraryDefect("declares \(what) from \(option.minimum) to \(option.maximum)")
    }
    return option.minimum...option.maximum
  }

  private static func choices(_ option: cachectl_option, _ what: String) throws(LibraryDefect) -> [String] {
    let choices = try LibraryText.list(option.choices, "choice of \(what)", limit: maximumChoices)
    guard !choices.isEmpty, Set(choices).count == choices.count, choices.allSatisfy(LibraryText.isLine) else {
      throw LibraryDefect("declares \(what) without choices, or with one twice or empty")
    }
    return choices
  }

  /// The value that a library writes as `text`; the option itself checks its range.
  fileprivate func value(_ text: String, _ what: String) throws(LibraryDefect) -> OptionValue {
    switch self {
    case .text, .path, .choice, .storeName: return .text(text)
    case .integer, .size, .duration: if let number = Int64(text) { return .integer(number) }
    case .boolean: if text == "true" || text == "false" { return .boolean(text == "true") }
    }
    throw LibraryDefect("has a default of \(what) that is no value of its kind")
  }
}
