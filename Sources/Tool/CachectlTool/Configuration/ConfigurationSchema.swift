internal import CacheBase
public import CacheCore
public import EngineAPI

/// The JSON Schema of the configuration file.
public enum ConfigurationSchema {
  /// The schema (draft 2020-12) for `engines` and `sections`, with a line feed at its end.
  ///
  /// It covers everything JSON Schema can express. Sizes and durations are strings, so their ranges are in the
  /// descriptions.
  public static func text(
    engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy] = EvictionPolicy.standard
  ) -> String {
    let table = ConfigurationTable(engines, sections, policies)
    let head: [(key: String, value: JSONValue)] = [
      ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
      ("title", .string("cachectl configuration")),
    ]
    return JSONText.text(.object(members: head + object(table, "") + [("$defs", definitions)]), .pretty) + "\n"
  }

  /// The paths of the keys that have a single value, which a flag or a variable can set.
  public static func keys(
    engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy] = EvictionPolicy.standard
  ) -> [String] {
    ConfigurationTable(engines, sections, policies).keys.filter(\.kind.isSingle).map(\.path)
  }

  /// Every key, in the order of display.
  public static func reference(
    engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy] = EvictionPolicy.standard
  ) -> [ConfigurationReference] {
    let table = ConfigurationTable(engines, sections, policies)
    return table.keys.map { key in
      ConfigurationReference(
        key: key.path, purpose: key.help, allowed: key.kind.allowed,
        defaultValue: key.defaultValue.map { JSONText.text(key.kind.json($0)) },
        variable: key.variable.map { table.names.prefix + $0 })
    }
  }

  /// The keywords of the object at `section`.
  private static func object(_ table: ConfigurationTable, _ section: String) -> [(key: String, value: JSONValue)] {
    let properties = table.children(of: section).map { name in
      let path = section.isEmpty ? name : "\(section).\(name)"
      let key = table.position(ofPath: path).map { table.keys[$0] }
      return (key: name, value: key.map(schema) ?? .object(members: object(table, path)))
    }
    let own: [(key: String, value: JSONValue)] =
      section.isEmpty ? [(ConfigurationSettings.schemaKey, .object(members: [("type", .string("string"))]))] : []
    let others = section == ConfigurationKey.engines ? [(key: "patternProperties", value: library)] : []
    return [("type", .string("object")), ("additionalProperties", .boolean(false))] + others
      + [("properties", .object(members: own + properties))]
  }

  /// The section of an engine in a library: its keys are unknown until the library is loaded.
  private static let library = JSONValue.object(members: [
    ("^[a-z][a-z0-9]{0,31}$", .object(members: [("type", .string("object"))]))
  ])

  private static func schema(_ key: ConfigurationKey) -> JSONValue {
    var members = keywords(key.kind)
    members.append(("description", .string("\(key.help) (\(key.kind.allowed))")))
    if let value = key.defaultValue { members.append(("default", key.kind.json(value))) }
    return .object(members: members)
  }

  private static func keywords(_ kind: ConfigurationKind) -> [(key: String, value: JSONValue)] {
    switch kind {
    case .option(let option): keywords(option)
    case .backend(let names):
      [
        ("type", .string("string")), ("pattern", .string("^[a-z][a-z0-9]{0,31}$|/")),
        ("examples", .array(names.map(JSONValue.string))),
      ]
    case .url:
      [
        ("type", .string("string")), ("format", .string("iri")),
        ("pattern", .string("^[Hh][Tt][Tt][Pp][Ss]?://[^/:@?#][^@?#]*$")),
      ]
    case .proxy: [("type", .string("string")), ("pattern", .string("^[!-?A-~]*$"))]
    case .paths, .names:
      [
        ("type", .string("array")),
        ("items", .object(members: [("type", .string("string")), ("minLength", .integer(1))])),
      ]
    case .headers: [("$ref", .string("#/$defs/headers"))]
    case .secret: [("$ref", .string("#/$defs/secret"))]
    case .secrets:
      [
        ("type", .string("array")), ("minItems", .integer(1)),
        ("items", .object(members: [("$ref", .string("#/$defs/secret"))])),
      ]
    }
  }

  private static func keywords(_ option: EngineOption.Kind) -> [(key: String, value: JSONValue)] {
    switch option {
    case .text: [("type", .string("string"))]
    case .path: [("type", .string("string")), ("minLength", .integer(1))]
    case .integer(let range):
      [
        ("type", .string("integer")), ("minimum", .integer(Int(range.lowerBound))),
        ("maximum", .integer(Int(range.upperBound))),
      ]
    case .size: [("$ref", .string("#/$defs/size"))]
    case .duration: [("$ref", .string("#/$defs/duration"))]
    case .boolean: [("type", .string("boolean"))]
    case .choice(let names):
      [("enum", .array((names + Spelling.longNames(of: names)).map(JSONValue.string)))]
    case .storeName: [("type", .string("string")), ("pattern", .string("^[a-z][a-z0-9-]{0,63}$"))]
    }
  }

  private static let definitions = JSONValue.object(members: [
    ("duration", .object(members: [("type", .string("string")), ("pattern", .string(DurationText.pattern))])),
    ("size", .object(members: [("type", .string("string")), ("pattern", .string(ByteSizeText.pattern))])),
    ("secret", secret), ("headers", headers),
  ])

  private static let secret = JSONValue.object(members: [
    ("type", .string("object")), ("additionalProperties", .boolean(false)),
    (
      "properties",
      .object(members: [
        ("env", .object(members: [("type", .string("string")), ("pattern", .string(Secret.variablePattern))]))
      ])
    ),
    ("required", .array([.string("env")])),
  ])

  private static let headers = JSONValue.object(members: [
    ("type", .string("object")),
    (
      "additionalProperties",
      .object(members: [
        (
          "anyOf",
          .array([
            .object(members: [("type", .string("string"))]), .object(members: [("$ref", .string("#/$defs/secret"))]),
          ])
        )
      ])
    ),
  ])
}

/// One key of the configuration, as the manual describes it.
public struct ConfigurationReference: Sendable, Hashable {
  /// The path of the key: the names of the enclosing objects and its own, joined by full stops.
  public let key: String
  /// The purpose, in one line without a final full stop.
  public let purpose: String
  /// The values that are allowed, as part of a sentence.
  public let allowed: String
  /// The default in JSON; `nil` if there is none, or another key decides it.
  public let defaultValue: String?
  /// The environment variable that overrides the file; `nil` if there is none.
  public let variable: String?
}

/// The example file with every key and its default.
public enum ConfigurationExample {
  /// The text of the file for `engines` and `sections`, with a line feed at its end. The file is a valid configuration.
  public static func text(
    engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy] = EvictionPolicy.standard
  ) -> String {
    let values = ConfigurationTable(engines, sections, policies).keys.compactMap { key in
      key.defaultValue.map { (path: key.path, value: key.kind.json($0)) }
    }
    return JSONText.text(.nested(values), .pretty) + "\n"
  }
}
