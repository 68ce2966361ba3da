/// A section of the configuration: the one place that declares its keys and the typed values they become.
///
/// The file, the JSON Schema, `config show`, `--set` and the environment variables follow from the declaration:
///
///     struct TidesSettings: ConfigurationSection {
///       static let path = "origin.tides"
///       let harbour: String?
///       let timeout: Duration
///
///       init(_ keys: inout SectionReader) {
///         harbour = keys.optionalText("harbour", help: "the harbour that is shown by default")
///         timeout = keys.duration("timeout", default: .seconds(5), help: "how long a request may take")
///       }
///     }
public protocol ConfigurationSection: Sendable {
  /// The names of the objects around its keys, joined by full stops, such as "cache" or "origin.cities"; never empty.
  static var path: String { get }

  /// Declares the keys and reads their values: always the same keys, in the order of display.
  init(_ keys: inout SectionReader)
}
