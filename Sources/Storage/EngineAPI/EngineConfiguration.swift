/// The arguments for opening an engine: a value for each declared option, and the clock.
public struct EngineConfiguration: Sendable {
  /// The clock by which the engine decides whether an entry has expired.
  public let clock: any WallClock

  /// Whether the store is opened only to save its readable entries after damage. The process that reads it for a repair
  /// sets this; an engine can then continue to read after damage that would otherwise stop it.
  package var isForRepair = false

  private let engine: String
  private var values: [String: OptionValue]

  /// The defaults of `declaration`, overridden by `values`.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a value belongs to no declared option or does not fit
  ///   its option's kind, or if a required value is missing.
  public init(
    for declaration: EngineDeclaration, values: [String: OptionValue] = [:], clock: any WallClock
  ) throws(CacheError) {
    self.clock = clock
    self.engine = declaration.name
    self.values = [:]
    for option in declaration.options {
      guard let value = values[option.name] ?? option.defaultValue else {
        guard !option.isRequired else { throw Self.error(declaration.name, option.name, "is required") }
        continue
      }
      guard option.accepts(value) else {
        let hint = option.kind == .path ? "give \(EngineOption.allowedPath)" : ""
        throw Self.error(declaration.name, option.name, "does not take that value", hint: hint)
      }
      self.values[option.name] = value
    }
    if let unknown = values.keys.sorted().first(where: { name in !declaration.options.contains { $0.name == name } }) {
      throw Self.error(declaration.name, unknown, "is not an option of it")
    }
  }

  /// The value of an option of any kind; `nil` if it has none.
  package func value(_ name: String) -> OptionValue? { values[name] }

  /// The value of a text, path or choice option.
  public func text(_ name: String) throws(CacheError) -> String {
    guard case .text(let text)? = values[name] else { throw missing(name) }
    return text
  }

  /// The value of an integer option, a size in bytes or a duration in milliseconds.
  public func integer(_ name: String) throws(CacheError) -> Int64 {
    guard case .integer(let integer)? = values[name] else { throw missing(name) }
    return integer
  }

  /// The value of a boolean option.
  public func boolean(_ name: String) throws(CacheError) -> Bool {
    guard case .boolean(let boolean)? = values[name] else { throw missing(name) }
    return boolean
  }

  /// The value of the option `EngineOption.durability`.
  public func durability() throws(CacheError) -> Durability {
    guard let durability = Durability(rawValue: try text(EngineOption.durability.name)) else {
      throw missing(EngineOption.durability.name)
    }
    return durability
  }

  /// The path of the store, without slashes at its end; `nil` if it has none.
  package var path: String? {
    guard case .text(let path)? = values["path"] else { return nil }
    return Self.withoutFinalSlashes(path)
  }

  /// The file that marks the store after its damage has ended a process; `nil` if the store has no path.
  package var crashMark: String? { path.map(Self.crashMark) }

  /// Whether the store has such a mark, which is an empty file: one with content is someone else's. Cost: one system call.
  package var hasCrashMark: Bool {
    var status = stat()
    guard let crashMark, lstat(crashMark, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
  }

  /// Removes the mark, if there is one.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if it stays: each opening would take the store for a crashed one.
  package func removeCrashMark() throws(CacheError) {
    guard hasCrashMark, let crashMark, unlink(crashMark) != 0, errno != ENOENT else { return }
    throw CacheError(.permissionDenied, "cannot remove \(crashMark): \(String(cString: strerror(errno)))")
  }

  /// The file that marks the store at `path` after its damage has ended a process.
  package static func crashMark(ofStore path: String) -> String { withoutFinalSlashes(path) + ".crashed" }

  private static func withoutFinalSlashes(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  private func missing(_ name: String) -> CacheError { Self.error(engine, name, "has no value of that type") }

  private static func error(_ engine: String, _ option: String, _ what: String, hint: String = "") -> CacheError {
    CacheError(.invalidOption, "option '\(option)' of backend \(engine) \(what)", hint: hint)
  }
}

extension EngineOption {
  /// Whether `value` has the option's kind and is within its range.
  public func accepts(_ value: OptionValue) -> Bool {
    switch (kind, value) {
    case (.text, .text): true
    case (.path, .text(let path)): Self.isPath(path)
    case (.integer(let range), .integer(let number)): range.contains(number)
    case (.size(let range), .integer(let number)): range.contains(number)
    case (.duration(let range), .integer(let number)): range.contains(number)
    case (.boolean, .boolean): true
    case (.choice(let names), .text(let name)): names.contains(name)
    case (.storeName, .text(let name)): Self.isStoreName(name)
    default: false
    }
  }

  /// Whether `text` is a valid value of the kind `path`. The names that databases have for a store in memory or a URI are
  /// not, because a file of that name is not what they mean.
  public static func isPath(_ text: String) -> Bool {
    !text.isEmpty && !text.utf8.contains(0) && text != ":memory:" && !text.hasPrefix("file:")
  }

  /// The valid values of the kind `path`, as part of a sentence.
  public static let allowedPath =
    "a path to a file or directory, not a URI or ':memory:' (the engine memory needs no path)"

  /// Whether `name` is a valid value of the kind `storeName`.
  public static func isStoreName(_ name: String) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first), name.utf8.count <= 64 else { return false }
    return name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
  }
}
