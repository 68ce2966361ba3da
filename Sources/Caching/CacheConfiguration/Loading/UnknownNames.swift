internal import CacheBase
internal import EngineAPI

/// The names in the file, the environment and the arguments that no declaration has, and what they might mean.
extension SectionReader {
  /// The key that tells editors the JSON Schema of the file. It is not a setting.
  package static let schemaKey = "$schema"

  /// Whether each name in the file, the environment and the arguments is of a key that has been declared.
  var declaresEveryName: Bool {
    let variables = sources.variables.isEmpty ? [] : settings.compactMap(\.variable)
    return sources.variables.allSatisfy(variables.contains) && sources.assignments.allSatisfy { self[$0.path] != nil }
      && (sources.file.map { declaresEveryName(in: $0.root, at: "") } ?? true)
  }

  /// Whether `node`, which is at `path`, is a key that has been declared, or an object of nothing but such keys.
  private func declaresEveryName(in node: JSONDocument.Node, at path: String) -> Bool {
    guard case .object(let members) = node.value, self[path] == nil else { return self[path] != nil }
    let isKnown = path.isEmpty || path == Setting.engines || settings.contains { $0.section == path }
    return isKnown
      && members.allSatisfy { member in
        // A full stop inside a key does not lead into an object, and the empty path is that of the whole file.
        !member.key.isEmpty && !member.key.utf8.contains(UInt8(ascii: "."))
          && declaresEveryName(in: member.node, at: path.isEmpty ? member.key : "\(path).\(member.key)")
      }
  }

  /// Reports the names that no declaration has. An environment variable that is named like none is not reported: it
  /// might be another program's, or say where a service is.
  mutating func reportUnknownNames() {
    if let file = sources.file { reportUnknown(in: file.root, at: "", file.path) }
    for (name, hint, isMistake) in unknownVariables(sources.variables) where isMistake {
      report(.unknownKey, .variable(sources.names.prefix + name), "there is no such setting", hint: hint, key: nil)
    }
    for (path, text, flag) in sources.assignments where self[path] == nil {
      let (names, source) = (
        path.split(separator: ".", omittingEmptySubsequences: false), ConfigurationSource.flag(flag)
      )
      if path.isEmpty {
        report(
          .malformed, source, "\(text.shown) names no key and value",
          hint: "write KEY=VALUE, such as cache.timeToLive=5m", key: nil)
      } else if isObject(path) {
        report(
          .wrongType, source, "'\(path)' is a section of the configuration, not a key",
          hint: "set its keys one by one: \(children(of: path).joined(separator: ", "))", key: path)
      } else if names.count != 3 || names[0] != Setting.engines || !mayBelongToLibrary(String(names[1])) {
        let section = names.dropLast().joined(separator: ".")
        reportUnknown(String(names.last ?? ""), in: section, isObject: false, source)
      }
    }
  }

  /// Reports the names in `node`, the object at `section`.
  ///
  /// - Parameter isOfLibrary: whether it belongs to an engine that is not loaded. Its keys are checked once the library is
  ///   loaded, but an address must not contain a password even now.
  private mutating func reportUnknown(
    in node: JSONDocument.Node, at section: String, _ file: String, isOfLibrary: Bool = false
  ) {
    guard case .object(let members) = node.value else {
      let what = section.isEmpty ? "the configuration" : "'\(section)'"
      return report(
        .wrongType, .file(file, node.place), "\(what) is \(node.value.noun), not an object", hint: "give an object",
        key: section.isEmpty ? nil : section)
    }
    for member in members where problems.count < Self.maximumProblems {
      let (path, node) = (section.isEmpty ? member.key : "\(section).\(member.key)", member.node)
      let isLibrary = section == Setting.engines && mayBelongToLibrary(member.key)
      if isOfLibrary {
        guard case .text = node.value else { continue }
        let shown = "\(section).\(member.key.shownKey)"
        _ = checkedValue(.node(node), of: .option(.text), at: shown, .file(file, node.place))
      } else if path == Self.schemaKey {
        if case .text = node.value { continue }
        report(
          .wrongType, .file(file, node.place), "'\(path)' is \(node.value.noun), not a text",
          hint: "give the address of the schema", key: path)
      } else if member.key.utf8.contains(UInt8(ascii: ".")) || !(isLibrary || self[path] != nil || isObject(path)) {
        // A full stop inside a key does not lead into an object.
        let isObject = if case .object = node.value { true } else { false }
        reportUnknown(member.key, in: section, isObject: isObject, .file(file, member.place))
      } else if self[path] == nil {
        reportUnknown(in: node, at: path, file, isOfLibrary: isLibrary)
      }
    }
  }

  /// Reports the key `name`, which the object at `section` does not have.
  private mutating func reportUnknown(
    _ name: String, in section: String, isObject: Bool, _ source: ConfigurationSource
  ) {
    let names = section.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let path = (section.isEmpty ? [name] : names + [name]).map(\.shownKey).joined(separator: ".")
    let hint = hint(forUnknown: name, in: section, isObject: isObject)
    report(.unknownKey, source, "unknown key '\(path)'", hint: hint, key: path)
  }
}

/// The names of the objects, and suggestions for unknown ones.
extension SectionReader {
  /// The paths of all keys, and of the objects that can have none.
  private var paths: [String] { settings.map(\.path) + objects }

  /// The paths of the objects of engines, and of the sections.
  private var objects: [String] {
    engines.map { Setting.path(of: $0.name) } + sectionPaths.filter { !$0.isEmpty }
  }

  /// Whether `path` is an object with keys or sections in it, or a section.
  private func isObject(_ path: String) -> Bool {
    objects.contains(path) || paths.contains { $0.hasPrefix(path + ".") }
  }

  /// The names of the keys and objects in the object at `section`, in the order of the declarations.
  package func children(of section: String) -> [String] { JSONValue.names(of: paths, in: section) }

  /// Whether `name` might belong to an engine whose library is not loaded. A name close to a known one is more likely a
  /// mistake.
  private func mayBelongToLibrary(_ name: String) -> Bool {
    loadsEngines && EngineName.isValid(name) && !engines.contains { Spelling.isNear(name, $0.name) }
      && !isObject(Setting.path(of: name))
  }

  /// A hint with the known key or object that is nearest to `name`, which the object at `section` does not have: one in
  /// the same object, otherwise one in another object, otherwise all that are known there. An object that is similar to
  /// none might be for a program with more resources.
  private func hint(forUnknown name: String, in section: String, isObject: Bool) -> String {
    let here = children(of: section)
    if let near = Spelling.nearest(to: name, among: here) {
      return "the nearest known key is '\(section.isEmpty ? near : "\(section).\(near)")'"
    }
    let isEngine = isObject && section == Setting.engines
    let elsewhere = isEngine ? [] : isObject ? objects : settings.map(\.path)
    let lastNames = elsewhere.map { String($0.split(separator: ".").last ?? "") }
    let near = Spelling.nearest(to: name, among: lastNames).flatMap { lastNames.firstIndex(of: $0) }
    if let path = near.map({ elsewhere[$0] }) ?? Spelling.nearest(to: name, among: elsewhere) {
      return "the nearest known key is '\(path)'"
    }
    let mayBeResource = !isEngine && (section.isEmpty || sectionPaths.contains { $0.hasPrefix(section + ".") })
    if here.isEmpty || (isObject && mayBeResource) {
      return "it belongs to no resource of this program: remove it, or keep it in a file for the program that has it"
    }
    return "known here: " + here.joined(separator: ", ")
  }

  /// The variables, by their names without the program's prefix, that are not settings but named like one, and what
  /// they might mean. A name near to a setting is a mistake. Another one is ignored, because it might be of another
  /// program; a user who meant a setting wants to know.
  func unknownVariables(_ variables: [String]) -> [(name: String, hint: String, isMistake: Bool)] {
    if variables.isEmpty { return [] }
    let known = settings.compactMap(\.variable)
    let all = (known + ConfigurationNames.ownVariables).map { (name: sources.names.prefix + $0, words: Self.words($0)) }
    return variables.filter { !known.contains($0) }.compactMap {
      name -> (name: String, hint: String, isMistake: Bool)? in
      let (word, rest) = Self.words(name)
      let similar = all.filter { $0.words.first == word || Spelling.isNear(word, $0.words.first) }
      let rests = similar.map(\.words.rest)
      // CITIES_BASE_URL is near to URL, though not by its letters.
      let end = rests.first { $0.hasSuffix("_" + rest) }
      let near = rest.isEmpty ? rest : Spelling.nearest(to: rest, among: rests) ?? end
      if let index = rests.firstIndex(where: { $0 == near }) {
        return (name, "the nearest known variable is \(similar[index].name)", true)
      }
      let others = similar.filter { $0.words.first == word }
      if others.isEmpty { return nil }
      // TTL stands for TIME_TO_LIVE.
      let meant = others.first { $0.words.rest.split(separator: "_").compactMap(\.first).elementsEqual(rest) }
      let hint = meant.map { "the nearest known variable is \($0.name)" }
      return (name, hint ?? "known are \(others.map(\.name).joined(separator: ", "))", false)
    }
  }

  /// The first word in the name of a variable, which is that of an engine or object, and the others.
  private static func words(_ variable: String) -> (first: String, rest: String) {
    let first = variable.prefix { $0 != "_" }
    return (String(first), String(variable.dropFirst(first.count + 1)))
  }
}
