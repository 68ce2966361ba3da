internal import StorageSPI

/// One key of the configuration, declared once: reading, checking, showing, the schema and the example all derive from
/// it.
package struct ConfigurationKey: Sendable {
  /// The path of the key: the names of the enclosing objects and its own, joined by full stops.
  package let path: String
  package let kind: ConfigurationKind
  /// The default; `nil` if there is none, or another key decides it.
  package let defaultValue: ConfigurationValue?
  /// The purpose of the key, in one line without a final full stop.
  package let help: String
  /// The environment variable that the declaration names, without the program's prefix; otherwise the name derives from
  /// the path.
  let ownVariable: String?
  /// What decides the key if nothing sets it.
  let rule: ConfigurationRule?

  init(
    _ path: String, _ kind: ConfigurationKind, default defaultValue: ConfigurationValue? = nil,
    help: String, variable: String? = nil, rule: ConfigurationRule? = nil
  ) {
    self.path = path
    self.kind = kind
    self.defaultValue = defaultValue
    self.help = help
    ownVariable = variable
    self.rule = rule
  }

  /// The key for `option` of the engine called `engine`.
  init(_ option: EngineOption, of engine: String) {
    self.init(
      Self.path(of: option.name, engine), option.isSecret ? .secret : .option(option.kind),
      default: option.isSecret ? nil : option.defaultValue.map(ConfigurationValue.option),
      help: option.help)
  }

  /// The environment variable that overrides the file, without the program's prefix; `nil` for headers and lists of
  /// secrets, which are several values. Computed on demand, because most processes have few such variables.
  package var variable: String? {
    if let ownVariable { return ownVariable }
    if !kind.isSingle { return nil }
    let names = path.split(separator: ".")
    return names.dropFirst(names[0] == Self.engines ? 1 : 0).map { Self.upperSnakeCase(String($0)) }
      .joined(separator: "_")
  }

  /// The path of `option` of `engine`.
  static func path(of option: String, _ engine: String) -> String { engines + "." + engine + "." + option }

  /// The path of the key that chooses the engine.
  package static var engine: String { "backend" }

  /// The object that contains one object per engine.
  package static var engines: String { "backends" }

  /// `name`, in camel case and ASCII, as part of a variable name: mapSize becomes MAP_SIZE.
  package static func upperSnakeCase(_ name: String) -> String {
    var bytes: [UInt8] = []
    var isInWord = false
    for byte in name.utf8 {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      if isUpper, isInWord { bytes.append(UInt8(ascii: "_")) }
      bytes.append(isLower ? byte - 0x20 : byte)
      isInWord = !isUpper
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
