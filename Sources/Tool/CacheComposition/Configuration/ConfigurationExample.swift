internal import CachePresentation
public import StorageSPI

/// The example file with every key and its default, including those of this project's own libraries.
public enum ConfigurationExample {
  /// The text of the file for `engines`, with a line feed at its end. The file is a valid configuration.
  public static func text(engines: [EngineDeclaration]) -> String {
    var values = ConfigurationKey.all(engines).compactMap { key in
      key.defaultValue.map { (path: key.path, value: key.kind.json($0)) }
    }
    let last = values.lastIndex { $0.path.hasPrefix(ConfigurationKey.engines + ".") } ?? values.startIndex
    values.insert(contentsOf: PluginCatalogue.apart, at: values.index(after: last))
    return JSONText.text(.nested(values), .pretty) + "\n"
  }
}
