public import StorageSPI

/// The JSON Schema of the configuration file.
public enum ConfigurationSchema {
  /// The schema (draft 2020-12) for `engines`, with a line feed at its end.
  ///
  /// It says all that JSON Schema can: ranges of sizes and durations, which are texts, stand in the descriptions.
  public static func text(engines: [EngineDeclaration]) -> String {
    let table = ConfigurationTable(engines)
    let head: [(key: String, value: JSONText)] = [
      ("$schema", .text("https://json-schema.org/draft/2020-12/schema")), ("title", .text("cachectl configuration")),
    ]
    return JSONText.object(head + object(table, "") + [("$defs", definitions)]).pretty() + "\n"
  }

  /// The keywords for the object at `section`.
  private static func object(_ table: ConfigurationTable, _ section: String) -> [(key: String, value: JSONText)] {
    let properties = table.children(of: section).map { name in
      let path = section.isEmpty ? name : "\(section).\(name)"
      let key = table.position(ofPath: path).map { table.keys[$0] }
      return (key: name, value: key.map(schema) ?? .object(object(table, path)))
    }
    return [
      ("type", .text("object")), ("additionalProperties", .boolean(false)), ("properties", .object(properties)),
    ]
  }

  private static func schema(_ key: ConfigurationKey) -> JSONText {
    var members = keywords(key.kind)
    members.append(("description", .text("\(key.help) (\(key.kind.allowed))")))
    if let value = key.defaultValue { members.append(("default", key.kind.json(value))) }
    return .object(members)
  }

  private static func keywords(_ kind: ConfigurationKind) -> [(key: String, value: JSONText)] {
    switch kind {
    case .option(let option): keywords(option)
    case .url:
      [("type", .text("string")), ("format", .text("uri")), ("pattern", .text("^https?://[^/:@?#][^@?#]*$"))]
    case .paths:
      [("type", .text("array")), ("items", .object([("type", .text("string")), ("minLength", .integer(1))]))]
    case .headers: [("$ref", .text("#/$defs/headers"))]
    case .secret: [("$ref", .text("#/$defs/secret"))]
    }
  }

  private static func keywords(_ option: EngineOption.Kind) -> [(key: String, value: JSONText)] {
    switch option {
    case .text: [("type", .text("string"))]
    case .path: [("type", .text("string")), ("minLength", .integer(1))]
    case .integer(let range):
      [
        ("type", .text("integer")), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)),
      ]
    case .size: [("$ref", .text("#/$defs/size"))]
    case .duration: [("$ref", .text("#/$defs/duration"))]
    case .boolean: [("type", .text("boolean"))]
    case .choice(let names): [("enum", .array(names.map(JSONText.text)))]
    }
  }

  private static let definitions = JSONText.object([
    ("duration", .object([("type", .text("string")), ("pattern", .text(DurationText.pattern))])),
    ("size", .object([("type", .text("string")), ("pattern", .text(ByteSizeText.pattern))])),
    ("secret", secret), ("headers", headers),
  ])

  private static let secret = JSONText.object([
    ("type", .text("object")), ("additionalProperties", .boolean(false)),
    (
      "properties",
      .object([("env", .object([("type", .text("string")), ("pattern", .text(Secret.variablePattern))]))])
    ),
    ("required", .array([.text("env")])),
  ])

  private static let headers = JSONText.object([
    ("type", .text("object")),
    (
      "additionalProperties",
      .object([
        (
          "anyOf",
          .array([.object([("type", .text("string"))]), .object([("$ref", .text("#/$defs/secret"))])])
        )
      ])
    ),
  ])
}
