package import CacheBase
package import EngineAPI

/// One key of the configuration, declared once, with its value. Reading, checking, showing, the schema and the example are
/// all derived from it.
package struct Setting: Sendable {
  /// The path of the section: the names of the enclosing objects, joined by full stops.
  let section: String
  let name: String
  package let kind: SettingKind
  /// The purpose of the key, in one line without a final full stop.
  package let help: String
  /// The environment variable that the declaration names, without the program's prefix.
  let ownVariable: String?
  /// The type that declares the key; `nil` for an option of an engine.
  let type: (any ConfigurationSection.Type)?
  /// The value; `nil` if nothing sets one. If nothing but declarations was read, this is the default.
  package internal(set) var value: SettingValue?
  package internal(set) var source: ConfigurationSource

  /// The path of the key: the names of the enclosing objects and its own, joined by full stops. Made on demand, because a
  /// process asks for few.
  package var path: String { section.isEmpty ? name : section + "." + name }

  /// Whether the key is at `path`.
  func isAt(_ path: String) -> Bool {
    // The lengths are compared first, without making a path.
    path.utf8.count == section.utf8.count + name.utf8.count + (section.isEmpty ? 0 : 1) && path == self.path
  }

  /// The value as the file has it.
  package var json: JSONValue? { value.map(kind.json) }

  /// The environment variable that overrides the file, without the program's prefix; `nil` for headers and lists of
  /// secrets, which are several values. Computed on demand, because most processes have few such variables.
  package var variable: String? {
    if let ownVariable { return ownVariable }
    guard kind.isSingle else { return nil }
    let names = path.split(separator: ".")
    return names.dropFirst(names[0] == Self.engines ? 1 : 0).map { Self.upperSnakeCase(String($0)) }
      .joined(separator: "_")
  }

  /// The place of the declaration, for the author of the program.
  var declaration: String { type.map { "\($0)" } ?? "the engine \(path.split(separator: ".")[1])" }

  /// The path of the object with the options of `engine`.
  static func path(of engine: String) -> String { engines + "." + engine }

  /// The path of the key that chooses the engine.
  package static var engine: String { "backend" }

  /// The object that contains one object per engine.
  package static var engines: String { "backends" }

  /// `name`, in camel case and ASCII, as part of a variable name: mapSize becomes MAP_SIZE.
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

/// The checked value of a key.
package enum SettingValue: Sendable, Hashable {
  case option(OptionValue)
  case list([String])
  case headers([HeaderSetting])
  case secret(Secret)
  case secrets([Secret])

  package static func text(_ text: String) -> SettingValue { .option(.text(text)) }
  package static func integer(_ number: Int64) -> SettingValue { .option(.integer(number)) }

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

  /// The secret and whether it is set, for display.
  var text: String { "\(self) (\(isSet ? "set" : "not set"))" }

  /// Whether `name` can be the name of an environment variable.
  static func isVariableName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !first.isASCIIDigit else { return false }
    return name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
  }
}

/// A header to send with each request to an origin.
public struct HeaderSetting: Sendable, Hashable {
  /// The value to send.
  public enum Value: Sendable, Hashable {
    /// A text that can be shown.
    case text(String)
    /// A secret, such as a token.
    case secret(Secret)
  }

  /// The header's name, as written.
  public let name: String
  /// The header's value.
  public let value: Value

  var json: JSONValue {
    switch value {
    case .text(let text): .string(text)
    case .secret(let secret): secret.json
    }
  }
}
