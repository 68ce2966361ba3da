internal import CacheBase

/// A section of the configuration: the one place that declares its keys and the typed values they become.
///
/// What the file, the environment variables and the program's arguments may say follows from the declaration:
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

/// What decides a key that no file, variable or flag sets, or demands that one of them sets it.
package enum ConfigurationRule: Sendable {
  /// The text of the key unless another key, at the given path, has the given value.
  case unless(String, is: String, text: String)
  /// The addresses that belong to the values of the origin's key `kind`, which is at the given path, and the values for
  /// which the user must give one.
  case ofKind(String, known: [(kind: String, address: String)], required: [String])
  /// The key is a list of names of sections, without this prefix, each at most once.
  case sections(prefix: String)
  /// The key is required if the one at the given path is set.
  case requiredBy(String, reason: String, hint: String)
}

extension ConfigurationSettings {
  /// Applies the rules of all keys.
  mutating func applyRules() {
    for key in table.keys {
      switch key.rule {
      case nil: break
      case .unless(let path, let value, let text)?:
        if optionalText(path) != value, self[key.path]?.source == .default { derive(key.path, .text(text), from: path) }
      case .ofKind(let path, let known, let required)?:
        guard self[key.path] == nil, let kind = optionalText(path) else { break }
        if let address = known.first(where: { $0.kind == kind })?.address {
          derive(key.path, .text(address), from: path)
        } else if required.contains(kind) {
          require(key, for: path, "which kind \(kind) needs", hint: "give \(key.kind.allowed)")
        }
      case .sections(let prefix)?: requireSections(prefix, at: key.path)
      case .requiredBy(let path, let reason, let hint)?:
        if self[path] != nil { require(key, for: path, reason, hint: hint) }
      }
    }
  }

  /// Reports each name in the list at `path` that is not a section's, after `prefix`, or that is there twice.
  private mutating func requireSections(_ prefix: String, at path: String) {
    guard let setting = self[path], let names = setting.value.list, !names.isEmpty else { return }
    let known = table.sectionPaths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    for (index, name) in names.enumerated() {
      let problem: (what: String, hint: String)
      if !known.contains(name) {
        let nearest = Spelling.nearest(to: name, among: known).map { "; the nearest is \($0)" } ?? ""
        problem = (
          "cannot contain \(SettingReader.shown(name))", "give some of \(known.joined(separator: ", "))\(nearest)"
        )
      } else if names[..<index].contains(name) {
        problem = ("contains \(SettingReader.shown(name)) twice", "give each name once")
      } else {
        continue
      }
      report(
        ConfigurationError(
          .outOfRange, "\(setting.source): '\(path)' \(problem.what)", hint: problem.hint, key: path,
          source: setting.source))
    }
  }

  /// The text at `path`; `nil` if the key has no value or its value is not a text.
  func optionalText(_ path: String) -> String? { self[path]?.value.text }

  private mutating func require(_ key: ConfigurationKey, for other: String, _ reason: String, hint: String) {
    guard self[key.path] == nil, let setting = self[other], !problems.contains(where: { $0.key == key.path }) else {
      return
    }
    report(
      ConfigurationError(
        .missing, "\(setting.source): '\(key.path)' is missing, \(reason)", hint: hint, key: key.path,
        source: setting.source))
  }
}
