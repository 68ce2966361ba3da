public import Base
internal import StorageSPI

/// A setting that only a trusted file may make.
public struct UnsafeSetting: Sendable, Hashable {
  /// The path of the key: the names of the enclosing objects and its own, joined by full stops.
  public let key: String
  /// The value as in the file. A secret only names its variable, and an address shows no user and no password.
  public let value: JSONValue
}

extension ConfigurationSettings {
  /// The settings of the applied file that only a trusted file may make: first known keys in the order of their
  /// declaration, then those of engines that are not built in.
  func unsafeSettings(_ places: TrustedPlaces) -> [UnsafeSetting] {
    let known = all.filter { key, setting in
      guard case .file = setting.source else { return false }
      let defaultValue = key.defaultValue.map { paths.resolving($0, key.kind) }
      return !key.safety.allows(setting.value, over: defaultValue, in: places)
    }
    return known.map { UnsafeSetting(key: $0.key.path, value: $0.key.kind.json($0.setting.value)) }
      + libraryMembers
  }
}

extension JSONValue {
  /// The value with the user and the password masked in each address.
  var withoutLogins: JSONValue {
    switch self {
    case .string(let text): .string(Self.withoutLogin(text))
    case .array(let values): .array(values.map(\.withoutLogins))
    case .object(let members): .object(members.map { Member($0.name, $0.value.withoutLogins) })
    default: self
    }
  }

  private static func withoutLogin(_ text: String) -> String {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"), let end = text.lastIndex(of: "@"),
      colon < end
    else { return text }
    // If the password cannot be told from the server, neither is shown.
    let login = text[colon...].dropFirst(3)[..<end]
    let isClear = !login.contains { "/?#\\@".contains($0) }
    return text[..<colon] + "://***" + (isClear ? text[end...] : "")
  }

  /// The value of `node`.
  init(_ node: JSONDocument.Node) {
    self =
      switch node.value {
      case .null: .null
      case .boolean(let flag): .boolean(flag)
      case .number(let digits): Int(digits).map(JSONValue.integer) ?? .string(digits)
      case .text(let text): .string(text)
      case .array(let nodes): .array(nodes.map { JSONValue($0) })
      case .object(let members): .object(members.map { Member($0.key, JSONValue($0.node)) })
      }
  }
}
