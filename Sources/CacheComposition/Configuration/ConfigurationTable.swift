internal import StorageSPI

/// The keys, and how to find one by its path or by its variable.
struct ConfigurationTable: Sendable {
  let keys: [ConfigurationKey]
  let engines: [EngineDeclaration]

  init(_ engines: [EngineDeclaration]) {
    keys = ConfigurationKey.all(engines)
    self.engines = engines
  }

  /// The position of the key at `path`; `nil` where there is none.
  ///
  /// Looks at one after the other: a dictionary costs more to fill than a process saves by asking it.
  /// The lengths are compared first, because that is a single instruction.
  func position(ofPath path: String) -> Int? {
    let count = path.utf8.count
    return keys.firstIndex { $0.path.utf8.count == count && $0.path == path }
  }

  /// The position of the key that `variable` overrides; `nil` where there is none.
  ///
  /// The names of the variables of engines are made only for a variable that is named like one.
  func position(ofVariable variable: String) -> Int? {
    if let position = keys.firstIndex(where: { $0.ownVariable == variable }) { return position }
    return belongsToEngine(variable: variable) ? keys.firstIndex { $0.variable == variable } : nil
  }

  /// Whether keys stand in an object at `path`.
  func isSection(_ path: String) -> Bool {
    keys.contains { $0.path.utf8.starts(with: path.utf8) && $0.path.utf8.dropFirst(path.utf8.count).first == Self.stop }
      || path == ConfigurationKey.engines || engines.contains { path == "\(ConfigurationKey.engines).\($0.name)" }
  }

  /// Whether `variable` is named like an option of an engine.
  func belongsToEngine(variable: String) -> Bool {
    engines.contains { variable.hasPrefix(ConfigurationKey.variable(of: $0.name)) }
  }

  /// Whether `name` may be that of an engine that is not known because its library is not loaded. A name that is close
  /// to a known one is more likely a mistake.
  func mayBelongToLibrary(_ name: String) -> Bool {
    EngineName.isValid(name) && !engines.contains { EngineName.isNear(name, $0.name) }
  }

  /// What to write instead of the unknown key `name` in the object at `section`.
  ///
  /// The nearest is looked for among all paths, so that a key that was written into the wrong object is found as well;
  /// where it is not near at all, the keys of the object are named too.
  func hint(forUnknown name: String, in section: String) -> String {
    let path = section.isEmpty ? name : "\(section).\(name)"
    let all = paths
    let here = children(of: section)
    let known = "known here: " + (here.isEmpty ? "none" : here.joined(separator: ", "))
    guard let nearest = SpellingDistance.nearest(to: path, among: all) else { return known }
    let isNear = SpellingDistance.between(path, nearest) <= max(2, name.utf8.count / 3)
    return "the nearest known key is '\(nearest)'" + (isNear ? "" : "; \(known)")
  }

  /// What to set instead of the unknown variable `name`.
  func hint(forUnknownVariable name: String) -> String {
    guard let nearest = SpellingDistance.nearest(to: name, among: keys.compactMap(\.variable)) else {
      return "unset it"
    }
    return "the nearest known variable is \(nearest)"
  }

  /// The names of the keys and objects in the object at `section`, in the order of the declarations.
  func children(of section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    let names = paths.filter { $0.hasPrefix(prefix) }.map { path in
      String(path.dropFirst(prefix.count).prefix { $0 != "." })
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  /// The paths of all keys, and of the objects that they stand in.
  private var paths: [String] {
    let sections = Set(
      keys.flatMap { Self.parents(of: $0.path) } + engines.map { "\(ConfigurationKey.engines).\($0.name)" })
    return keys.map(\.path) + sections.sorted()
  }

  /// The paths of the objects around the key at `path`: of a.b.c, "a" and "a.b".
  private static func parents(of path: String) -> [String] {
    path.utf8.indices.filter { path.utf8[$0] == stop }.map { String(path[..<$0]) }
  }

  private static let stop = UInt8(ascii: ".")
}
