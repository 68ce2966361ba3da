internal import CCachectlPlugin
internal import StorageSPI

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
