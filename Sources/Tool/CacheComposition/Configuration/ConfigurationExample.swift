internal import CachePresentation
public import StorageSPI

/// The example file with every key and its default.
public enum ConfigurationExample {
  /// The text of the file for `engines` and `sections`, with a line feed at its end. The file is a valid configuration.
  public static func text(engines: [EngineDeclaration], sections: [any ConfigurationSection.Type]) -> String {
    let values = ConfigurationTable(engines, sections).keys.compactMap { key in
      key.defaultValue.map { (path: key.path, value: key.kind.json($0)) }
    }
    return JSONText.text(.nested(values), .pretty) + "\n"
  }
}
