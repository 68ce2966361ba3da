internal import CacheData
internal import CachePresentation

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
