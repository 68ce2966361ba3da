public import CacheBase
public import EngineAPI

/// The whole configuration with its effective values: an argument of the program overrides the environment, which
/// overrides the file, which overrides the default.
public struct Configuration: Sendable {
  /// The absolute path of the file in use; `nil` if there is none.
  public let file: String?
  /// The absolute path of the folder for stores.
  public let home: String
  /// Where `home` comes from.
  public let homeSource: ConfigurationSource
  /// The name of the engine, which is declared or loaded.
  public let backend: String

  /// The named engines that are not built in, with their libraries loaded.
  public let loadedEngines: [LoadedEngine]

  package let settings: ConfigurationSettings

  init(
    file: String?, home: (path: String, source: ConfigurationSource),
    _ settings: ConfigurationSettings, loaded engines: [LoadedEngine]
  ) {
    self.file = file
    self.home = home.path
    homeSource = home.source
    self.settings = settings
    loadedEngines = engines
    backend = EngineName.name(of: settings[ConfigurationKey.engine]?.value.text ?? "")
  }

  /// The values of `section`. A section that the loader was not given has its defaults. Cost: it reads the values anew.
  public func section<Section: ConfigurationSection>(_ section: Section.Type) -> Section { settings.section(section) }
}

extension Configuration {
  /// The option values of `engine`, by option, ready for `EngineConfiguration`; empty if no such engine was declared.
  /// Paths are absolute; a secret whose variable is not set has no value. Secrets are the plain values: do not show
  /// them, show `entries`.
  public func options(of engine: String) -> [String: OptionValue] {
    var values: [String: OptionValue] = [:]
    for option in settings.table.engines.first(where: { $0.name == engine })?.options ?? [] {
      switch settings[ConfigurationKey.path(of: option.name, engine)]?.value {
      case .option(let value): values[option.name] = value
      case .secret(let secret): values[option.name] = secret.value.map(OptionValue.text)
      case .list, .headers, .secrets, nil: break
      }
    }
    return values
  }

  /// The engine with the store: the configured one, or the remote one if that is made of two.
  package var storeEngine: String { EngineName.name(of: settings[settings.storeKey]?.value.text ?? "") }

  /// The path of the configured engine's store; `nil` if it has none.
  public var storePath: String? { storePath(of: storeEngine) }

  /// The path of the store of the engine called `backend`; `nil` if it has none.
  public func storePath(of backend: String) -> String? {
    guard case .text(let path)? = options(of: backend)["path"] else { return nil }
    return path
  }

  /// The address of the server with the configured engine's store; `nil` if the store is not on a server, or the address
  /// is a secret. It holds no user and no password: an address with one is refused.
  public var storeAddress: String? {
    guard case .option(.text(let address))? = settings[ConfigurationKey.path(of: "url", storeEngine)]?.value else {
      return nil
    }
    return address
  }

  /// `error` of the engine called `backend`. If it is about the value of an option, which its message names as in
  /// "option 'url'", the message then begins with the source of that value.
  package func namingSource(of error: CacheError, backend: String) -> CacheError {
    let options = settings.table.engines.first { $0.name == backend }?.options ?? []
    guard error.code == .invalidOption,
      let option = options.first(where: { error.message.holds("option '\($0.name)'") }),
      let source = settings[ConfigurationKey.path(of: option.name, backend)]?.source, source != .default
    else { return error }
    return CacheError(
      error.code, "\(source): \(error.message)", hint: error.hint, key: error.key, cause: error.cause)
  }
}

/// One key with its value, for display.
public struct ConfigurationEntry: Sendable, Hashable {
  /// The path of the key: the names of the enclosing objects and its own, joined by full stops.
  public let key: String
  /// The value without quotation marks: "1h30m", "64MiB", "true". For a secret, the name of its variable and whether
  /// that is set.
  public let text: String
  /// The value as in the configuration file.
  public let json: JSONValue
  /// Where the value comes from.
  public let source: ConfigurationSource

  init(_ key: ConfigurationKey, _ setting: ConfigurationSettings.Setting) {
    let value = key.kind.json(setting.value)
    self.key = key.path
    json = value
    text =
      switch (value, setting.value) {
      case (.string(let text), _): text
      case (_, .secret(let secret)): Self.text(secret)
      case (_, .secrets(let secrets)): secrets.map(Self.text).joined(separator: ", ")
      default: JSONText.text(value)
      }
    source = setting.source
  }

  private static func text(_ secret: Secret) -> String { "\(secret) (\(secret.isSet ? "set" : "not set"))" }
}

extension Configuration {
  /// All keys that have a value, in the order of the schema. Paths are absolute; secrets are not shown.
  public var entries: [ConfigurationEntry] { settings.all.map { ConfigurationEntry($0.key, $0.setting) } }

  /// All of `entries` as the document of a configuration file. Loading it gives the same values.
  public var document: JSONValue { .nested(settings.all.map { ($0.key.path, $0.key.kind.json($0.setting.value)) }) }
}

extension JSONValue {
  /// An object with each value at its path, whose names are joined by full stops.
  package static func nested(_ values: [(path: String, value: JSONValue)]) -> JSONValue {
    var members: [Member] = []
    var rest = values[...]
    while let first = rest.first {
      let name = first.path.prefix { $0 != "." }
      let same = rest.prefix { $0.path == name || $0.path.hasPrefix("\(name).") }
      rest = rest[same.endIndex...]
      let inner = same.map { (path: String($0.path.dropFirst(name.count + 1)), value: $0.value) }
      members.append(Member(String(name), first.path == name ? first.value : nested(inner)))
    }
    return .object(members)
  }

  /// An object with the given members, in the given order.
  package static func object(members: [(key: String, value: JSONValue)]) -> JSONValue {
    .object(members.map { Member($0.key, $0.value) })
  }
}
