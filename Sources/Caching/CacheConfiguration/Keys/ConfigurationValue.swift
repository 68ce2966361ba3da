package import CacheBase
internal import CacheCore
package import EngineAPI

/// The checked value of a key.
package enum ConfigurationValue: Sendable, Hashable {
  case option(OptionValue)
  case list([String])
  case headers([HeaderSetting])
  case secret(Secret)
  case secrets([Secret])

  package static func text(_ text: String) -> ConfigurationValue { .option(.text(text)) }
  package static func integer(_ number: Int64) -> ConfigurationValue { .option(.integer(number)) }

  /// The text; `nil` for a value of another type.
  package var text: String? {
    if case .option(.text(let text)) = self { return text }
    return nil
  }

  /// The number; `nil` for a value of another type.
  package var number: Int64? {
    if case .option(.integer(let number)) = self { return number }
    return nil
  }

  /// The list; `nil` for a value of another type.
  package var list: [String]? {
    if case .list(let texts) = self { return texts }
    return nil
  }
}

/// The kind of values that a key takes.
package enum ConfigurationKind: Sendable, Hashable {
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

  /// Whether a flag gives such a value as the file does, in JSON: it is an object, or a list of objects.
  var isStructured: Bool {
    switch self {
    case .headers, .secret, .secrets: true
    default: false
    }
  }

  /// Whether such a value is a list of texts: a flag can give it as the file does, too.
  var isList: Bool { self == .paths || self == .names }

  /// Whether such a value is a single one, which a variable can hold.
  package var isSingle: Bool {
    switch self {
    case .headers, .secrets: false
    default: true
    }
  }

  /// `value`, which is of this kind, as written in the configuration.
  package func json(_ value: ConfigurationValue) -> JSONValue {
    switch (self, value) {
    case (.option(.size), .option(.integer(let bytes))): .string(ByteSizeText(bytes: bytes).description)
    case (.option(.duration), .option(.integer(let length))): .string(DurationText(milliseconds: length).description)
    case (_, .option(.text(let text))): .string(text)
    case (_, .option(.integer(let number))): .integer(Int(number))
    case (_, .option(.boolean(let flag))): .boolean(flag)
    case (_, .list(let texts)): .array(texts.map(JSONValue.string))
    case (_, .headers(let headers)): .object(headers.map { JSONValue.Member($0.name, $0.json) })
    case (_, .secret(let secret)): secret.json
    case (_, .secrets(let secrets)): .array(secrets.map(\.json))
    }
  }

  /// What to call such a value in a message, with its article.
  var noun: String {
    switch self {
    case .option(.text), .option(.choice), .option(.storeName), .backend: "a text"
    case .option(.path): "a path"
    case .option(.integer): "a whole number"
    case .option(.size): "a size"
    case .option(.duration): "a duration"
    case .option(.boolean): "a boolean"
    case .url: "a URL"
    case .proxy: "the address of a proxy"
    case .paths: "a list of paths"
    case .names: "a list of names"
    case .headers: "an object of headers"
    case .secret: "a secret"
    case .secrets: "a list of secrets"
    }
  }

  /// The first of `numbers` in `range`, as an example of the notation.
  private static func example(
    _ numbers: [Int64], in range: ClosedRange<Int64>, _ text: (Int64) -> some CustomStringConvertible
  ) -> String {
    numbers.first(where: range.contains).map { ", like \(text($0))" } ?? ""
  }

  /// The values that are allowed, as part of a sentence.
  package var allowed: String {
    switch self {
    case .option(.text): "a text"
    case .option(.path): EngineOption.allowedPath
    case .option(.integer(let range)): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .option(.size(let range)):
      "a size from \(ByteSizeText(bytes: range.lowerBound)) to \(ByteSizeText(bytes: range.upperBound))"
        + Self.example([64 << 20, 1_024], in: range) { ByteSizeText(bytes: $0) }
    case .option(.duration(let range)):
      "a duration from \(DurationText(milliseconds: range.lowerBound)) to "
        + "\(DurationText(milliseconds: range.upperBound))"
        + Self.example([5_400_000, 90_000, 250], in: range) { DurationText(milliseconds: $0) }
    case .option(.boolean): "true or false"
    case .option(.choice(let names)): names.count == 1 ? names[0] : "one of " + names.joined(separator: ", ")
    case .option(.storeName): "1 to 64 lower-case letters, digits and hyphens, the first a letter"
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
}

/// The addresses of proxies, as libcurl accepts them.
package enum ProxyAddress {
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// The message for an address with an unknown scheme. The address is not shown: it may contain a password.
  package static let mistake = "there is no such kind of proxy"
  /// The hint for that message.
  package static let hint = "begin its address with one of \(schemes.map { "\($0)://" }.joined(separator: ", "))"

  /// Whether `text` has the scheme of a proxy. Without a scheme it is an HTTP proxy.
  package static func hasKnownScheme(_ text: String) -> Bool {
    !text.holds("://") || schemes.contains { text.lowercased().hasPrefix("\($0)://") }
  }
}

/// A secret in the environment. The configuration only names the variable; no description contains the value.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name of the environment variable.
  public let variable: String
  /// The value; do not show it.
  let value: String?

  /// The secret in `variable`; `value` is `nil` or empty if the variable has none.
  public init(variable: String, value: String?) {
    self.variable = variable
    self.value = value?.isEmpty == true ? nil : value
  }

  /// Whether the variable has a value.
  public var isSet: Bool { value != nil }

  /// The value itself, for sending it.
  ///
  /// - Throws: `ConfigurationError` with the code `missing` if the variable has no value.
  public func reveal() throws(ConfigurationError) -> String {
    guard let value else {
      throw ConfigurationError(
        .missing, "the environment variable \(variable), which the configuration names, is not set",
        hint: "set \(variable)", source: .variable(variable))
    }
    return value
  }

  /// As the configuration writes it: `{"env":"NAME"}`.
  public var description: String { JSONText.text(json) }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Contains only the name of the variable.
  public var customMirror: Mirror { Mirror(self, children: ["variable": variable]) }

  var json: JSONValue { ["env": .string(variable)] }

  /// Whether `name` can be the name of an environment variable.
  static func isVariableName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !first.isASCIIDigit else { return false }
    return name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
  }

  /// The same rule as a regular expression of JSON Schema (ECMA-262).
  package static let variablePattern = "^[A-Za-z_][A-Za-z0-9_]*$"
}

/// A header to send with each request to an origin.
public struct HeaderSetting: Sendable, Hashable {
  /// The value to send.
  public enum Value: Sendable, Hashable {
    /// A text that may be shown.
    case text(String)
    /// A secret, such as a token.
    case secret(Secret)
  }

  /// The header's name, as written.
  public let name: String
  /// The header's value.
  public let value: Value

  /// The header `name` with `value`.
  public init(name: String, value: Value) {
    self.name = name
    self.value = value
  }

  var json: JSONValue {
    switch value {
    case .text(let text): .string(text)
    case .secret(let secret): secret.json
    }
  }

  /// The lower-case names of headers whose value must be a secret.
  static let secretNames: Set<String> = ["authorization", "proxy-authorization", "cookie"]
}
