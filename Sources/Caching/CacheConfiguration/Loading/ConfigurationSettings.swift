internal import CacheBase
internal import EngineAPI

/// The value of each key and its source, gathered layer by layer: defaults, file, environment, flags.
package struct ConfigurationSettings: Sendable {
  package struct Setting: Sendable {
    package let value: ConfigurationValue
    package let source: ConfigurationSource
  }

  /// The maximum number of reported mistakes: enough to correct a file, and a limit on the work for a hopeless one.
  package static let maximumProblems = 100

  package let table: ConfigurationTable
  let environment: EnvironmentVariables
  let paths: PathResolver
  package private(set) var problems: [ConfigurationError] = []
  private var settings: [Setting?]

  /// The defaults. Relative paths are resolved in the home of `paths`.
  init(_ table: ConfigurationTable, environment: EnvironmentVariables, paths: PathResolver) {
    self.table = table
    self.environment = environment
    self.paths = paths
    settings = table.keys.map { key in
      key.defaultValue.map { Setting(value: paths.resolving($0, key.kind), source: .default) }
    }
  }

  /// The setting of the key at `path`; `nil` if it has no value.
  package subscript(path: String) -> Setting? { table.position(ofPath: path).flatMap { settings[$0] } }

  /// The value of the key at `position` in the table; `nil` if it has none.
  package subscript(position: Int) -> ConfigurationValue? { settings[position]?.value }

  /// The values of a section of the table.
  package func section<Section: ConfigurationSection>(_ section: Section.Type) -> Section {
    var reader =
      table.position(ofSection: Section.path).map { SectionReader(Section.path, of: self, at: $0) }
      ?? SectionReader(declaring: Section.path, policies: table.policies)
    return Section(&reader)
  }

  /// The keys that have a value, in the order of their declaration.
  var all: [(key: ConfigurationKey, setting: Setting)] {
    zip(table.keys, settings).compactMap { key, setting in setting.map { (key, $0) } }
  }

  /// Sets the key at `path` without checking the value.
  mutating func derive(_ path: String, _ value: ConfigurationValue, from source: String) {
    guard let position = table.position(ofPath: path) else { return }
    settings[position] = Setting(value: value, source: .derived(source))
  }

  mutating func report(_ problem: ConfigurationError) {
    if problems.count < Self.maximumProblems { problems.append(problem) }
  }

  /// Applies the settings of `document`, the content of `file`.
  mutating func apply(_ document: JSONDocument, in file: String) {
    guard case .object(let members) = document.root.value else {
      return report(
        ConfigurationError(
          .wrongType, "\(file):\(document.root.place): the configuration is \(document.root.value.noun)",
          hint: "give an object", source: .file(file, document.root.place)))
    }
    apply(members, section: "", file)
  }

  private mutating func apply(_ members: [JSONDocument.Member], section: String, _ file: String) {
    for member in members where problems.count < Self.maximumProblems {
      let path = section.isEmpty ? member.key : "\(section).\(member.key)"
      // A full stop inside a key does not lead into an object.
      let isName = !member.key.utf8.contains(UInt8(ascii: "."))
      if section.isEmpty, member.key == Self.schemaKey {
        checkSchema(member, file)
      } else if isName, let position = table.position(ofPath: path) {
        apply(member.node, position, file)
      } else if isName, table.isSection(path) {
        apply(object(member, path, file) ?? [], section: path, file)
      } else if isName, section == ConfigurationKey.engines, table.mayBelongToLibrary(member.key) {
        applyUnknown(object(member, path, file) ?? [], section: path, file)
      } else {
        report(unknown(member, section, file))
      }
    }
  }

  /// Examines the section of an engine that is not loaded. Its keys are checked once the library is loaded, but an
  /// address must not contain a password even now.
  private mutating func applyUnknown(_ members: [JSONDocument.Member], section: String, _ file: String) {
    for member in members {
      guard case .text = member.node.value else { continue }
      do {
        _ = try SettingReader(kind: .option(.text), environment: environment).value(member.node)
      } catch {
        let path = "\(section).\(Self.shown(key: member.key))"
        report(Self.problem(error, path, .file(file, member.node.place)))
      }
    }
  }

  /// The key that tells editors the JSON Schema of the file. It is not a setting.
  package static let schemaKey = "$schema"

  private mutating func checkSchema(_ member: JSONDocument.Member, _ file: String) {
    if case .text = member.node.value { return }
    let (place, noun) = (member.node.place, member.node.value.noun)
    report(
      ConfigurationError(
        .wrongType, "\(file):\(place): '\(member.key)' is \(noun), not a text", hint: "give the address of the schema",
        key: member.key, source: .file(file, place)))
  }

  /// The members of an object; `nil`, after reporting it, if the value is not an object.
  private mutating func object(
    _ member: JSONDocument.Member, _ path: String, _ file: String
  ) -> [JSONDocument.Member]? {
    if case .object(let members) = member.node.value { return members }
    let place = member.node.place
    report(
      ConfigurationError(
        .wrongType, "\(file):\(place): '\(path)' is \(member.node.value.noun), not an object",
        hint: "give an object", key: path, source: .file(file, place)))
    return nil
  }

  private mutating func apply(_ node: JSONDocument.Node, _ position: Int, _ file: String) {
    do {
      let value = try SettingReader(kind: table.keys[position].kind, environment: environment).value(node)
      set(position, value, .file(file, node.place))
    } catch {
      report(Self.problem(error, table.keys[position].path, .file(file, error.place ?? node.place)))
    }
  }

  /// Applies the environment variables. An empty variable counts as absent, and so does one that is named like none:
  /// it may be another program's, or say where a service is.
  mutating func applyEnvironment() {
    let names = environment.names(beginning: table.names.prefix).filter { environment[$0]?.isEmpty == false }
    guard !names.isEmpty else { return }
    for name in names.sorted() {
      if let position = table.position(ofVariable: name), let text = environment[name] {
        apply(text, position, .variable(name))
      } else if let known = table.nearestVariable(to: name) {
        report(
          ConfigurationError(
            .unknownKey, "\(Self.shown(key: name)): there is no such setting",
            hint: "the nearest known variable is \(known)", source: .variable(name)))
      }
    }
  }

  /// Applies `text`, a KEY=VALUE from `flag`.
  mutating func apply(assignment text: String, of flag: String) {
    let source = ConfigurationSource.flag(flag)
    guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign > text.startIndex else {
      return report(
        ConfigurationError(
          .malformed, "\(flag): \(SettingReader.shown(text)) names no key and value",
          hint: "write KEY=VALUE, such as cache.timeToLive=5m", source: source))
    }
    let path = String(text[..<sign])
    if let position = table.position(ofPath: path) {
      apply(String(text[text.utf8.index(after: sign)...]), position, source)
    } else if table.isSection(path) {
      report(
        ConfigurationError(
          .wrongType, "\(flag): '\(path)' is a section of the configuration, not a key",
          hint: table.hint(forSection: path), key: path, source: source))
    } else if !table.mayBelongToLibrary(path: path) {
      report(
        ConfigurationError(
          .unknownKey, "\(flag): unknown key '\(Self.shown(path: path))'", hint: table.hint(forUnknownPath: path),
          key: path, source: source))
    }
  }

  /// Sets the key at `path` to the value in `text`, which comes from `flag`.
  mutating func apply(_ text: String, of flag: String, path: String) {
    guard let position = table.position(ofPath: path) else { return }
    apply(text, position, .flag(flag))
  }

  private mutating func apply(_ text: String, _ position: Int, _ source: ConfigurationSource) {
    let key = table.keys[position]
    if case .variable(let name) = source, key.kind == .secret {
      return set(position, .secret(Secret(variable: name, value: text)), source)
    }
    do {
      let reader = SettingReader(kind: key.kind, environment: environment)
      // A secret on the command line would be visible to everyone, and headers are several values: both are written as
      // in the file.
      var isInJSON = key.kind.isStructured
      if case .flag = source, key.kind.isList, text.hasPrefix("[") { isInJSON = true }
      set(position, isInJSON ? try reader.value(json: text) : try reader.value(text), source)
    } catch {
      report(Self.problem(error, key.path, source))
    }
  }

  private mutating func set(_ position: Int, _ value: ConfigurationValue, _ source: ConfigurationSource) {
    settings[position] = Setting(value: paths.resolving(value, table.keys[position].kind), source: source)
  }

  private func unknown(
    _ member: JSONDocument.Member, _ section: String, _ file: String
  ) -> ConfigurationError {
    let path = (section.isEmpty ? "" : "\(section).") + Self.shown(key: member.key)
    let isObject = if case .object = member.node.value { true } else { false }
    return ConfigurationError(
      .unknownKey, "\(file):\(member.place): unknown key '\(path)'",
      hint: table.hint(forUnknown: member.key, in: section, isObject: isObject), key: path,
      source: .file(file, member.place))
  }

  private static func problem(
    _ mismatch: SettingReader.Mismatch, _ path: String, _ source: ConfigurationSource
  ) -> ConfigurationError {
    ConfigurationError(
      mismatch.code, "\(source): '\(path)\(mismatch.part)' \(mismatch.message)", hint: mismatch.hint, key: path,
      source: source)
  }

  /// `path` in a form for display.
  private static func shown(path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false).map { shown(key: String($0)) }.joined(separator: ".")
  }

  /// `key` in a form for display: quoted unless it is a plain name, and shortened if it is long.
  static func shown(key: String) -> String {
    let short = key.utf8.count > 80 ? String(key.unicodeScalars.prefix(40)) + "..." : key
    let isPlain = short.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-".utf8.contains($0) }
    return isPlain && !key.isEmpty ? short : quoted(short)
  }
}

extension ConfigurationSettings {
  /// The path of the key that names the engine with the store: if the configured engine is made of others, the key of the
  /// remote one.
  package var storeKey: String {
    guard case .option(.text(let name))? = self[ConfigurationKey.engine]?.value,
      !table.engines.contains(where: { $0.name == name })
    else { return ConfigurationKey.engine }
    let remote = ConfigurationKey.path(of: "remote", name)
    return self[remote] == nil ? ConfigurationKey.engine : remote
  }

  /// The engine with the store if it is not known yet.
  package var engineToLoad: WantedEngine? {
    let key = storeKey
    guard let setting = self[key], case .option(.text(let reference)) = setting.value,
      !table.engines.contains(where: { $0.name == reference })
    else { return nil }
    return WantedEngine(reference: reference, source: setting.source, key: key)
  }
}
