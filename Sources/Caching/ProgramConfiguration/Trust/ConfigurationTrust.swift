internal import StorageSPI

/// Whether a configuration file may be used.
public enum ConfigurationTrust: Sendable, Hashable {
  /// The user named the file, or it is the user's own.
  case own
  /// It was found in the working folder, and sets nothing that needs trust.
  case harmless
  /// It was found in the working folder, and the user trusts its content.
  case trusted
  /// It was found in the working folder, and is not used. `isChanged` if the user trusted different content.
  case needed(isChanged: Bool)

  /// Whether the file may be used.
  public var permits: Bool { if case .needed = self { false } else { true } }

  /// The trust in one or two words.
  public var text: String {
    switch self {
    case .own: "your own"
    case .harmless: "needs no trust"
    case .trusted: "trusted"
    case .needed(isChanged: false): "not trusted"
    case .needed(isChanged: true): "changed since it was trusted"
    }
  }
}

/// A configuration file that was read once: the content that is judged is the content that is used.
struct ConfigurationDocument {
  let file: ConfigurationFile
  let content: JSONDocument
  /// The settings that only a trusted file may make; empty for the user's own file.
  let unsafeSettings: [UnsafeSetting]
  let trust: ConfigurationTrust

  var path: String { file.path }

  /// Why the file is not used; `nil` if it is.
  func refusal(_ names: ConfigurationNames) -> ConfigurationError? {
    guard case .needed(let isChanged) = trust else { return nil }
    let keys = unsafeSettings.prefix(5).map(\.key)
    let rest = unsafeSettings.count > keys.count ? " and \(unsafeSettings.count - keys.count) more" : ""
    return ConfigurationError(
      .untrusted,
      "\(file.path) \(isChanged ? "has changed since it was trusted" : "is not trusted"), and sets "
        + keys.joined(separator: ", ") + rest,
      hint: names.advice.untrustedFile?(file.path) ?? "", source: file.source)
  }
}
