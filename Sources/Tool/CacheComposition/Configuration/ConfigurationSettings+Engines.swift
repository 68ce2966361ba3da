internal import StorageSPI

/// The named engine, and where its library may be.
extension ConfigurationSettings {
  /// The configured engine if it is not known yet: its name, or the absolute path of its library.
  var backendToLoad: (reference: String, source: ConfigurationSource)? {
    guard let setting = self[ConfigurationKey.engine], case .option(.text(let reference)) = setting.value,
      !table.engines.contains(where: { $0.name == reference })
    else { return nil }
    return (reference, setting.source)
  }

  /// Whether the setting for the folders of libraries is free of mistakes.
  var saysWhereLibrariesAre: Bool {
    !problems.contains { $0.key == ConfigurationKey.searchPath }
  }
}
