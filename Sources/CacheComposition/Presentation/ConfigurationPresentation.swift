public import CachePresentation

extension SettingsView.SettingRow {
  /// The row of one key of the configuration.
  public init(_ entry: ConfigurationEntry) {
    self.init(
      path: entry.key.split(separator: ".").map(String.init), value: entry.json,
      origin: entry.source.description)
  }
}

extension ConfigurationError {
  /// Whether the mistake is in a flag, and so one of the command line. A library that a flag names correctly and that
  /// cannot be used is none.
  public var isOfCommandLine: Bool {
    guard code != .invalidPlugin, code != .permissionDenied else { return false }
    return if case .flag? = source { true } else { false }
  }
}
