internal import Base
internal import CachedFetching

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
