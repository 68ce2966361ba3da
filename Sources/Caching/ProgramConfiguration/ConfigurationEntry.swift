public import Base

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
