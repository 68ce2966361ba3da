package import CacheBase
package import EngineAPI

/// The kind of values that a key takes: what to call them, which are allowed, and how the file and the schema write them.
/// Reading them is in the extension next to this.
package enum SettingKind: Sendable, Hashable {
  /// The same kind of values as an engine option.
  case option(EngineOption.Kind)
  /// An engine: one of the names, or a library given by its name or by its path, which contains a slash.
  case backend([String])
  /// The address of an HTTP server.
  case url
  /// The address of a proxy, with or without a scheme, or an empty text.
  case proxy
  /// A list of folders.
  case paths
  /// A list of names.
  case names
  /// Names and values of HTTP headers.
  case headers
  /// A secret, written `{"env": "NAME"}`.
  case secret
  /// A list of secrets, at least one.
  case secrets

  /// Whether such a value is a single one, which a variable can hold.
  package var isSingle: Bool { self != .headers && self != .secrets }

  /// The noun for such a value in a message, with its article.
  var noun: String {
    switch self {
    case .option(.path): "a path"
    case .option(.integer): "a whole number"
    case .option(.size): "a size"
    case .option(.duration): "a duration"
    case .option(.boolean): "a boolean"
    case .option, .backend: "a text"
    case .url: "a URL"
    case .proxy: "the address of a proxy"
    case .paths: "a list of paths"
    case .names: "a list of names"
    case .headers: "an object of headers"
    case .secret: "a secret"
    case .secrets: "a list of secrets"
    }
  }

  /// The values that are allowed, as part of a sentence.
  package var allowed: String {
    switch self {
    case .option(.text): "a text"
    case .option(.path): EngineOption.allowedPath
    case .option(.integer(let range)): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .option(.size(let range)): allowed(range, like: [64 << 20, 1_024]) { ByteSizeText(bytes: $0).description }
    case .option(.duration(let range)):
      allowed(range, like: [5_400_000, 90_000, 250]) { DurationText(milliseconds: $0).description }
    case .option(.boolean): "true or false"
    case .option(.choice(let names)): names.count == 1 ? names[0] : "one of " + names.joined(separator: ", ")
    case .option(.storeName): "1 to 64 lowercase letters, digits and hyphens, the first a letter"
    case .backend(let names): "one of \(names.joined(separator: ", ")), or the name or path of a library"
    case .url: "an address that begins with https:// or http://, without user, query and fragment"
    case .proxy:
      "an address such as http://proxy:3128, without user and password, which go into the variable https_proxy"
    case .paths: "a list of paths, none of them empty"
    case .names: "a list of names"
    case .headers: "an object of header names, each with a text or {\"env\": \"NAME\"}"
    case .secret: "{\"env\": \"NAME\"}, which names the environment variable that holds it"
    case .secrets: "a list of {\"env\": \"NAME\"}, each of which names an environment variable that holds a secret"
    }
  }

  /// The range of numbers that are written with units, and the first of `examples` in it.
  private func allowed(_ range: ClosedRange<Int64>, like examples: [Int64], _ text: (Int64) -> String) -> String {
    let example = examples.first(where: range.contains).map { ", like \(text($0))" } ?? ""
    return "\(noun) from \(text(range.lowerBound)) to \(text(range.upperBound))\(example)"
  }

  /// `value`, which is of this kind, as written in the configuration.
  package func json(_ value: SettingValue) -> JSONValue {
    switch (self, value) {
    case (.option(.size), .option(.integer(let bytes))): .string(ByteSizeText(bytes: bytes).description)
    case (.option(.duration), .option(.integer(let length))): .string(DurationText(milliseconds: length).description)
    case (_, .option(.text(let text))): .string(text)
    case (_, .option(.integer(let number))): .integer(Int(number))
    case (_, .option(.boolean(let flag))): .boolean(flag)
    case (_, .list(let texts)): JSONValue(texts)
    case (_, .headers(let headers)): .object(headers.map { JSONValue.Member($0.name, $0.json) })
    case (_, .secret(let secret)): secret.json
    case (_, .secrets(let secrets)): .array(secrets.map(\.json))
    }
  }

  /// The JSON Schema of such a value. Sizes and durations are strings, so that their ranges cannot be in it.
  package var schema: JSONValue {
    switch self {
    case .option(.text): ["type": "string"]
    case .option(.path): ["type": "string", "minLength": 1]
    case .option(.integer(let range)):
      ["type": "integer", "minimum": .integer(Int(range.lowerBound)), "maximum": .integer(Int(range.upperBound))]
    case .option(.size): Self.text(ByteSizeText.pattern)
    case .option(.duration): Self.text(DurationText.pattern)
    case .option(.boolean): ["type": "boolean"]
    case .option(.choice(let names)): ["enum": JSONValue(names + Spelling.longNames(of: names))]
    case .option(.storeName): Self.text("^[a-z][a-z0-9-]{0,63}$")
    case .backend(let names):
      ["type": "string", "pattern": "^[a-z][a-z0-9]{0,31}$|/", "examples": JSONValue(names)]
    case .url: ["type": "string", "format": "iri", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/:@?#][^@?#]*$"]
    case .proxy: Self.text("^[!-?A-~]*$")
    case .paths, .names: ["type": "array", "items": ["type": "string", "minLength": 1]]
    case .headers:
      ["type": "object", "additionalProperties": ["anyOf": [["type": "string"], SettingKind.secret.schema]]]
    case .secret:
      [
        "type": "object", "additionalProperties": false, "properties": ["env": Self.text("^[A-Za-z_][A-Za-z0-9_]*$")],
        "required": ["env"],
      ]
    case .secrets: ["type": "array", "minItems": 1, "items": SettingKind.secret.schema]
    }
  }

  /// The schema of a text that matches `pattern` (ECMA-262).
  private static func text(_ pattern: String) -> JSONValue { ["type": "string", "pattern": .string(pattern)] }
}

/// The addresses of proxies, as libcurl accepts them.
package enum ProxyAddress {
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// The message for an address with an unknown scheme. The address is not shown: it might contain a password.
  package static let mistake = "there is no such kind of proxy"
  /// The hint for that message.
  package static let hint = "begin its address with one of \(schemes.map { "\($0)://" }.joined(separator: ", "))"

  /// Whether `text` has the scheme of a proxy. Without a scheme it is an HTTP proxy.
  package static func hasKnownScheme(_ text: String) -> Bool {
    !text.holds("://") || schemes.contains { text.lowercased().hasPrefix("\($0)://") }
  }
}
