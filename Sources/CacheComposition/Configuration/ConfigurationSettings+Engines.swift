internal import StorageSPI

/// Which engine is named, and where its library may be.
extension ConfigurationSettings {
  /// The engine that is configured, where it is not known yet: its name, or the absolute path of its library.
  var backendToLoad: (reference: String, source: ConfigurationSource)? {
    guard let setting = self[ConfigurationKey.engine], case .option(.text(let reference)) = setting.value,
      !table.engines.contains(where: { $0.name == reference })
    else { return nil }
    return (reference, setting.source)
  }

  /// Whether nothing is wrong with the setting that names the folders of libraries.
  var saysWhereLibrariesAre: Bool {
    !problems.contains { $0.key == ConfigurationKey.searchPath }
  }
}
