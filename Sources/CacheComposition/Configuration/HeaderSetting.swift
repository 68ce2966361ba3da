internal import CachePresentation

/// A header that is sent with each request to an origin.
public struct HeaderSetting: Sendable, Hashable {
  /// What is sent.
  public enum Value: Sendable, Hashable {
    /// A text that may be shown.
    case text(String)
    /// A secret, such as a token.
    case secret(Secret)
  }

  /// The header's name, as it was written.
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

  /// The headers whose value must be written as a secret, in lower case.
  static let secretNames: Set<String> = ["authorization", "proxy-authorization", "cookie"]

  /// Whether `name` is a token (RFC 9110, section 5.6.2).
  static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.allSatisfy { $0.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".unicodeScalars.contains($0) }
  }

  /// Whether `text` can be sent as a value: no control character but the tab (RFC 9110, section 5.5).
  static func isValue(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7F) }
  }
}
