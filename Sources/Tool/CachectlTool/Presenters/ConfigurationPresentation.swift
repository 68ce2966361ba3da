internal import CacheComposition
internal import CachePresentation

extension SettingsView.SettingRow {
  /// The row for one key of the configuration.
  init(_ entry: ConfigurationEntry) {
    self.init(
      path: entry.key.split(separator: ".").map(String.init), value: entry.json,
      origin: entry.source.description)
  }
}

extension ConfigurationError {
  /// Whether the mistake is in a flag, and so in the command line. A correctly named library that cannot be used is not
  /// such a mistake.
  var isOfCommandLine: Bool {
    guard code != .invalidPlugin, code != .permissionDenied else { return false }
    return if case .flag? = source { true } else { false }
  }
}
