public import CacheBase
public import EngineAPI

/// The whole configuration with its effective values: an argument of the program overrides the environment, which
/// overrides the file, which overrides the default.
///
/// It is large, and everything has it: so it is never copied.
public final class Configuration: Sendable {
  /// The absolute path of the file in use; `nil` if there is none.
  public let file: String?
  /// The absolute path of the folder for stores.
  public let home: String
  /// Where `home` comes from.
  public let homeSource: ConfigurationSource
  /// The name of the engine, which is declared or loaded.
  public let backend: String

  /// The configured engine, and those that the command names.
  package let namedEngines: [String]
  /// Those of them that are not built in, with their libraries loaded.
  public let loadedEngines: [LoadedEngine]

  private let reader: SectionReader

  init(
    home: (path: String, source: ConfigurationSource), _ reader: SectionReader,
    naming references: [EngineReference] = [], loaded engines: [LoadedEngine] = []
  ) {
    file = reader.sources.file?.path
    self.home = home.path
    homeSource = home.source
    self.reader = reader
    loadedEngines = engines
    backend = EngineName.name(of: reader[Setting.engine]?.value?.text ?? "")
    namedEngines = [backend] + references.map { EngineName.name(of: $0.text) }
  }

  /// The values of `section`.
  public func section<Section: ConfigurationSection>(_ section: Section.Type) -> Section { reader.section(section) }

  /// The source of the value of the key at `path`; `nil` if it has none.
  package func source(of path: String) -> ConfigurationSource? {
    guard let setting = reader.completed()[path], setting.value != nil else { return nil }
    return setting.source
  }

  /// The options of `engine`; empty if no such engine was declared.
  private func settings(of engine: String) -> [Setting] {
    let section = Setting.path(of: engine)
    return (engine == backend ? reader : reader.completed()).settings.filter { $0.section == section }
  }
}

extension Configuration {
  /// The option values of `engine`, by option, ready for `EngineConfiguration`; empty if no such engine was declared.
  /// Paths are absolute. Secrets are the plain values: do not show them, show `entries`.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if the variable of a secret is not set.
  public func options(of engine: String) throws(CacheError) -> [String: OptionValue] {
    var values: [String: OptionValue] = [:]
    for setting in settings(of: engine) {
      switch setting.value {
      case .option(let value): values[setting.name] = value
      case .secret(let secret):
        guard let value = secret.value else {
          throw CacheError(
            .invalidOption,
            "\(setting.source): '\(setting.path)' names the environment variable \(secret.variable), which is not set",
            hint: "set \(secret.variable)")
        }
        values[setting.name] = .text(value)
      case .list, .headers, .secrets, nil: break
      }
    }
    return values
  }

  /// The engine with the store: the configured one, or the remote one if that is made of two.
  package var storeEngine: String { EngineName.name(of: reader[reader.storeKey]?.value?.text ?? "") }

  /// The path of the configured engine's store; `nil` if it has none.
  public var storePath: String? { storePath(of: storeEngine) }

  /// The path of the store of the engine called `backend`; `nil` if it has none.
  public func storePath(of backend: String) -> String? {
    settings(of: backend).first { $0.name == "path" }?.value?.text
  }

  /// The address of the server with the configured engine's store; `nil` if the store is not on a server, or the address
  /// is a secret. It holds no user and no password: an address with one is refused.
  public var storeAddress: String? { settings(of: storeEngine).first { $0.name == "url" }?.value?.text }

  /// `error` of the engine called `backend`. If it is about the value of an option, which its message names as in
  /// "option 'url'", the message then begins with the source of that value.
  package func namingSource(of error: CacheError, backend: String) -> CacheError {
    guard error.code == .invalidOption,
      let option = settings(of: backend).first(where: { error.message.holds("option '\($0.name)'") }),
      option.value != nil, option.source != .default
    else { return error }
    return CacheError(
      error.code, "\(option.source): \(error.message)", hint: error.hint, key: error.key, cause: error.cause)
  }

  /// All keys that have a value, in the order of display. Paths are absolute; secrets are not shown.
  public var entries: [ConfigurationEntry] { reader.completed().settings.compactMap(ConfigurationEntry.init) }

  /// All of `entries` as the document of a configuration file. Loading it gives the same values.
  public var document: JSONValue { .nested(entries.map { ($0.key, $0.json) }) }
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
  /// The origin of the value.
  public let source: ConfigurationSource

  init?(_ setting: Setting) {
    guard let value = setting.value, let json = setting.json else { return nil }
    key = setting.path
    self.json = json
    text =
      switch (json, value) {
      case (.string(let text), _): text
      case (_, .secret(let secret)): secret.text
      case (_, .secrets(let secrets)): secrets.map(\.text).joined(separator: ", ")
      default: JSONText.text(json)
      }
    source = setting.source
  }
}

extension JSONValue {
  /// An object with each value at its path, whose names are joined by full stops.
  package static func nested(_ values: [(path: String, value: JSONValue)]) -> JSONValue {
    .object(
      names(of: values.map(\.path), in: "").map { name in
        if let value = values.first(where: { $0.path == name })?.value { return Member(name, value) }
        let inner = values.filter { $0.path.hasPrefix(name + ".") }
        return Member(name, nested(inner.map { (String($0.path.dropFirst(name.count + 1)), $0.value) }))
      })
  }

  /// The names in the object at `section`, which is empty for the outermost one, if there is something at `paths`: each
  /// once, in their order.
  package static func names(of paths: [String], in section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    var seen: Set<String> = []
    return paths.filter { $0.hasPrefix(prefix) }.map { path in String(path.dropFirst(prefix.count).prefix { $0 != "." })
    }
    .filter { seen.insert($0).inserted }
  }
}
