internal import StorageSPI

/// One key of the configuration, declared once: reading, checking, showing, the schema and the example follow from it.
struct ConfigurationKey: Sendable {
  /// The names of the objects around the key and its own, joined by full stops.
  let path: String
  let kind: ConfigurationKind
  /// The value where none is given; `nil` where there is none, or another key decides it.
  let defaultValue: ConfigurationValue?
  /// What it is for, in one line without a final full stop.
  let help: String
  /// What a file that was merely found in the working folder may set it to.
  let safety: ConfigurationSafety
  /// The environment variable that its declaration names; others follow from their paths.
  let ownVariable: String?

  init(
    _ path: String, _ kind: ConfigurationKind, default defaultValue: ConfigurationValue? = nil,
    safety: ConfigurationSafety, help: String, variable: String? = nil
  ) {
    self.path = path
    self.kind = kind
    self.defaultValue = defaultValue
    self.help = help
    self.safety = safety
    ownVariable = variable
  }

  /// The key of `option` of the engine called `engine`. An option may say where data goes, or weaken what a commit
  /// survives: without trust only a path below the home is allowed.
  init(_ option: EngineOption, of engine: String) {
    self.init(
      Self.path(of: option.name, engine), option.isSecret ? .secret : .option(option.kind),
      default: option.isSecret ? nil : option.defaultValue.map(ConfigurationValue.option),
      safety: option.kind == .path ? .belowHome : .nothing, help: option.help)
  }

  /// The environment variable that overrides the file; `nil` where there is none, as headers are several values. Made
  /// when asked for, because few processes are given one.
  var variable: String? {
    if let ownVariable { return ownVariable }
    if kind == .headers { return nil }
    let names = path.split(separator: ".")
    return "CACHECTL"
      + names.dropFirst(names[0] == Self.engines ? 1 : 0).map { "_" + Self.upperSnakeCase(String($0)) }.joined()
  }

  /// The objects whose names variables of keys begin with. No engine can be called so, or "plugin".
  static var sections: [String] { ["cache", "network", "queries", "origin"] }

  /// The path of `option` of `engine`.
  static func path(of option: String, _ engine: String) -> String { engines + "." + engine + "." + option }

  /// The path of the engine that is used.
  static var engine: String { "backend" }

  /// The object that has an object for each engine.
  static var engines: String { "backends" }

  /// The path of the folders in which libraries are looked for.
  static var searchPath: String { "plugins.searchPath" }

  /// What the names of the variables of `engine` begin with.
  static func variable(of engine: String) -> String { "CACHECTL_\(upperSnakeCase(engine))_" }

  /// `name`, which is in camel case and ASCII, as part of a variable's name: mapSize becomes MAP_SIZE.
  static func upperSnakeCase(_ name: String) -> String {
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
