internal import CachePresentation
public import StorageSPI

/// The file that shows every key with its default.
public enum ConfigurationExample {
  /// The text of the file for `engines`, with a line feed at its end. It is itself a valid configuration.
  public static func text(engines: [EngineDeclaration]) -> String {
    let values = ConfigurationKey.all(engines).compactMap { key in
      key.defaultValue.map { (path: key.path, value: key.kind.json($0)) }
    }
    return JSONText.text(.nested(values), .pretty) + "\n"
  }
}
