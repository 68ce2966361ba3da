internal import StorageSPI

/// The keys, and how to find one by its path or by its variable.
struct ConfigurationTable: Sendable {
  let keys: [ConfigurationKey]
  let engines: [EngineDeclaration]
  private let positions: [String: Int]
  private let variables: [String: Int]
  /// The paths of the objects that keys stand in.
  private let sections: Set<String>

  init(_ engines: [EngineDeclaration]) {
    keys = ConfigurationKey.all(engines)
    self.engines = engines
    positions = Self.index(keys) { $0.path }
    variables = Self.index(keys) { $0.variable }
    sections = Set(keys.flatMap { Self.parents(of: $0.path) } + engines.map { "backends.\($0.name)" } + ["backends"])
  }

  /// The position of the key at `path`; `nil` where there is none.
  func position(ofPath path: String) -> Int? { positions[path] }

  /// The position of the key that `variable` overrides; `nil` where there is none.
  func position(ofVariable variable: String) -> Int? { variables[variable] }

  /// Whether keys stand in an object at `path`.
  func isSection(_ path: String) -> Bool { sections.contains(path) }

  /// Whether `variable` is named like an option of an engine.
  func belongsToEngine(variable: String) -> Bool {
    engines.contains { variable.hasPrefix(ConfigurationKey.variable(of: $0.name)) }
  }

  /// What to write instead of the unknown key `name` in the object at `section`.
  ///
  /// The nearest is looked for among all paths, so that a key that was written into the wrong object is found as well;
  /// where it is not near at all, the keys of the object are named too.
  func hint(forUnknown name: String, in section: String) -> String {
    let path = section.isEmpty ? name : "\(section).\(name)"
    let all = keys.map(\.path) + sections.sorted()
    let here = children(of: section)
    let known = "known here: " + (here.isEmpty ? "none" : here.joined(separator: ", "))
    guard let nearest = SpellingDistance.nearest(to: path, among: all) else { return known }
    let isNear = SpellingDistance.between(path, nearest) <= max(2, name.utf8.count / 3)
    return "the nearest known key is '\(nearest)'" + (isNear ? "" : "; \(known)")
  }

  /// What to set instead of the unknown variable `name`.
  func hint(forUnknownVariable name: String) -> String {
    guard let nearest = SpellingDistance.nearest(to: name, among: variables.keys.sorted()) else { return "unset it" }
    return "the nearest known variable is \(nearest)"
  }

  /// The names of the keys and objects in the object at `section`, in the order of the declarations.
  func children(of section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    let names = (keys.map(\.path) + sections.sorted()).filter { $0.hasPrefix(prefix) }.map { path in
      String(path.dropFirst(prefix.count).prefix { $0 != "." })
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  private static func index(_ keys: [ConfigurationKey], by name: (ConfigurationKey) -> String?) -> [String: Int] {
    var result: [String: Int] = [:]
    for (position, key) in keys.enumerated() {
      if let name = name(key) { result[name] = position }
    }
    return result
  }

  /// The paths of the objects around the key at `path`: of a.b.c, "a" and "a.b".
  private static func parents(of path: String) -> [String] {
    path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: ".") }.map { String(path[..<$0]) }
  }
}
