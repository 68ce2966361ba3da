internal import CacheBase
package import CacheCore
package import EngineAPI

/// The keys, in the order of display, and how to find one by its path or by its variable.
package struct ConfigurationTable: Sendable {
  package let names: ConfigurationNames
  package private(set) var keys: [ConfigurationKey] = []
  package let engines: [EngineDeclaration]
  /// The eviction policies, the default first.
  package let policies: [EvictionPolicy]
  /// The paths of the sections, the positions of their first keys, and the types that declare them.
  private var sections: [(path: String, position: Int, type: any ConfigurationSection.Type)] = []
  /// The positions of the options of engines.
  private var options = 0..<0

  /// The key of the engine, those of `sections` outside of all objects, of `engines`, and of the other `sections`.
  ///
  /// - Parameter loadsEngines: whether the configuration may name an engine that is not one of `engines`.
  ///
  /// Each process needs the table once, at its start. So it is not kept in globals, and its defaults are numbers: parsing
  /// them took longer than everything else.
  package init(
    _ names: ConfigurationNames, _ engines: [EngineDeclaration], _ sections: [any ConfigurationSection.Type],
    _ policies: [EvictionPolicy], loadsEngines: Bool
  ) {
    (self.names, self.engines, self.policies) = (names, engines, policies)
    keys.reserveCapacity(48)
    let engineNames = engines.map(\.name)
    keys.append(
      ConfigurationKey(
        ConfigurationKey.engine, loadsEngines ? .backend(engineNames) : .option(.choice(engineNames)),
        default: engineNames.first.map { .text($0) }, help: "the storage engine",
        variable: "BACKEND"))
    let grouped = Self.grouped(sections)
    for section in grouped where section.path.isEmpty { add(section) }
    let start = keys.count
    for engine in engines {
      for option in engine.options { keys.append(ConfigurationKey(option, of: engine.name)) }
    }
    options = start..<keys.count
    for section in grouped where !section.path.isEmpty { add(section) }
  }

  /// `sections` with those of one object side by side, as a file has them, and otherwise in their order.
  private static func grouped(_ sections: [any ConfigurationSection.Type]) -> [any ConfigurationSection.Type] {
    let objects = sections.map { object(of: $0.path) }
    return sections.indices.map { index in
      (objects.firstIndex { $0.elementsEqual(objects[index]) } ?? index, index)
    }.sorted { $0 < $1 }.map { sections[$0.1] }
  }

  private mutating func add<Section: ConfigurationSection>(_ section: Section.Type) {
    var reader = SectionReader(declaring: Section.path, policies: policies)
    _ = Section(&reader)
    sections.append((Section.path, keys.count, Section.self))
    keys += reader.keys
  }

  /// The mistake of the program that a key has two declarations, or a variable would be of two keys; `nil` if there is
  /// none.
  var defect: ConfigurationError? { repeatedKey ?? sectionNamedLikeEngine }

  private var sectionNamedLikeEngine: ConfigurationError? {
    for section in sections {
      let object = Self.object(of: section.path)
      guard let engine = engines.first(where: { $0.name.utf8.elementsEqual(object) }) else { continue }
      return ConfigurationError(
        .defect,
        "the section '\(section.path)' of \(section.type) is named like the engine \(engine.name), whose variables begin alike",
        hint: "rename the section in the program", key: section.path)
    }
    return nil
  }

  private var repeatedKey: ConfigurationError? {
    var seen: Set<String> = []
    seen.reserveCapacity(keys.count)
    guard let second = keys.firstIndex(where: { !seen.insert($0.path).inserted }),
      let first = position(ofPath: keys[second].path)
    else { return nil }
    return ConfigurationError(
      .defect,
      "the key '\(keys[second].path)' is declared twice: in \(declaration(of: first)) and in \(declaration(of: second))",
      hint: "rename one of the two in the program", key: keys[second].path)
  }

  /// What declares the key at `position`, for the author of the program.
  private func declaration(of position: Int) -> String {
    let names = keys[position].path.split(separator: ".")
    if options.contains(position) { return "the engine \(names[1])" }
    return sections.last { $0.position <= position }.map { "\($0.type)" } ?? ""
  }

  /// The paths of all sections.
  var sectionPaths: [String] { sections.map(\.path) }

  /// The position of the first key of the section at `path`; `nil` if there is no such section.
  func position(ofSection path: String) -> Int? { sections.first { $0.path == path }?.position }

  /// The position of the key at `path`; `nil` if there is none.
  ///
  /// A linear search: filling a dictionary costs a process more than the lookups save. Comparing the lengths first
  /// takes a single instruction.
  package func position(ofPath path: String) -> Int? {
    let count = path.utf8.count
    return keys.firstIndex { $0.path.utf8.count == count && $0.path == path }
  }

  /// The position of the key that `variable` overrides; `nil` if there is none.
  ///
  /// Variable names are computed only if `variable` looks like one of them.
  func position(ofVariable variable: String) -> Int? {
    let name = withoutPrefix(variable)
    if let position = keys.firstIndex(where: { $0.ownVariable == name }) { return position }
    return mayNameKey(variable: variable) ? keys.firstIndex { $0.variable == name } : nil
  }

  /// Whether `path` is an object with keys in it.
  func isSection(_ path: String) -> Bool {
    keys.contains { $0.path.utf8.starts(with: path.utf8) && $0.path.utf8.dropFirst(path.utf8.count).first == Self.stop }
      || path == ConfigurationKey.engines || engines.contains { path == "\(ConfigurationKey.engines).\($0.name)" }
  }

  /// Whether `variable` is named like an engine option, or like a key in an object.
  func mayNameKey(variable: String) -> Bool { prefix(ofVariable: variable) != nil }

  private func prefix(ofVariable variable: String) -> String? { prefixes.first(where: variable.hasPrefix) }

  /// What the variables of each engine and each object begin with.
  private var prefixes: [String] {
    (engines.map(\.name) + objects).map { "\(names.prefix)\(ConfigurationKey.upperSnakeCase($0))_" }
  }

  /// The beginning of `variable`, where it is not the name of an engine or object, but close to one, and that name's.
  private func misspelledPrefix(ofVariable variable: String) -> (written: String, meant: String)? {
    let words = variable.split(separator: "_", omittingEmptySubsequences: false)
    for meant in prefixes {
      // The last part is empty, and the first ones are the program's.
      let count = meant.count { $0 == "_" }
      guard words.count > count else { continue }
      let written = words[..<count].joined(separator: "_")
      if areNear(written, String(meant.dropLast())) { return (written + "_", meant) }
    }
    return nil
  }

  /// The variable outside all objects to whose name `variable` is close.
  private func misspelledName(_ variable: String) -> String? {
    let known = keys.compactMap(\.ownVariable).map { names.prefix + $0 } + [names.homeVariable, names.fileVariable]
    guard !known.contains(variable) else { return nil }
    return known.first { areNear(variable, $0) }
  }

  /// Whether the names of two variables are near to each other, without the program's prefix.
  private func areNear(_ variable: String, _ other: String) -> Bool {
    Spelling.isNear(withoutPrefix(variable), withoutPrefix(other))
  }

  /// `variable` without the program's prefix, with which it begins.
  private func withoutPrefix(_ variable: String) -> String {
    String(Substring(variable.utf8.dropFirst(names.prefix.utf8.count)))
  }

  /// The outermost objects of the sections, whose names begin variables.
  private var objects: [String] {
    sections.map { String(decoding: Self.object(of: $0.path), as: UTF8.self) }.filter { !$0.isEmpty && $0 != "plugins" }
  }

  /// The outermost object of the section at `path`; empty for the keys outside of objects.
  private static func object(of path: String) -> Substring.UTF8View { path.utf8.prefix { $0 != stop } }

  /// Whether `name` may belong to an engine whose library is not loaded. A name close to a known one is more likely a
  /// mistake.
  func mayBelongToLibrary(_ name: String) -> Bool {
    EngineName.isValid(name) && !engines.contains { EngineName.isNear(name, $0.name) }
      && !isSection("\(ConfigurationKey.engines).\(name)")
  }

  /// Whether `path` may belong to an option of such an engine.
  func mayBelongToLibrary(path: String) -> Bool {
    let names = path.split(separator: ".", omittingEmptySubsequences: false)
    return names.count == 3 && names[0] == ConfigurationKey.engines && mayBelongToLibrary(String(names[1]))
  }

  /// A hint with a replacement for the unknown key at `path`.
  func hint(forUnknownPath path: String) -> String {
    let names = path.split(separator: ".", omittingEmptySubsequences: false)
    return hint(forUnknown: String(names.last ?? ""), in: names.dropLast().joined(separator: "."))
  }

  /// A hint how to set a key of the object at `section` on the command line.
  func hint(forSection section: String) -> String {
    let examples = keys.lazy.filter { $0.path.hasPrefix(section + ".") }.compactMap { key in
      key.defaultValue.map { "\(key.path)=\(JSONText.text(key.kind.json($0)).filter { $0 != "\"" })" }
    }
    return examples.first.map { "set its keys one by one, as in: \(names.arguments.setting) \($0)" }
      ?? hint(forUnknown: "", in: section)
  }

  /// A hint with a replacement for the unknown key `name` in the object at `section`.
  ///
  /// It suggests a similar key of the same object, otherwise a key that belongs in another object, otherwise all keys
  /// of this one. An object with keys that is similar to none may be for a program with more resources.
  func hint(forUnknown name: String, in section: String, isObject: Bool = false) -> String {
    let here = children(of: section)
    if let near = Spelling.nearest(to: name, among: here) {
      return "the nearest known key is '\(section.isEmpty ? near : "\(section).\(near)")'"
    }
    if isObject, section != ConfigurationKey.engines {
      let paths = sections.map(\.path).filter { !$0.isEmpty } + engines.map { "\(ConfigurationKey.engines).\($0.name)" }
      let names = paths.map { String($0.split(separator: ".").last ?? "") }
      if let near = Spelling.nearest(to: name, among: names), let index = names.firstIndex(of: near) {
        return "the nearest known key is '\(paths[index])'"
      }
      if mayHoldResources(section) { return Self.noResource }
    }
    let lastNames = keys.map { String($0.path.split(separator: ".").last ?? "") }
    if let last = Spelling.nearest(to: name, among: lastNames), let index = lastNames.firstIndex(of: last) {
      return "the nearest known key is '\(keys[index].path)'"
    }
    // A full stop inside a key does not lead into an object.
    if name.contains("."), let path = Spelling.nearest(to: name, among: keys.map(\.path)) {
      return "the nearest known key is '\(path)'"
    }
    return here.isEmpty ? Self.noResource : "known here: " + here.joined(separator: ", ")
  }

  private static var noResource: String {
    "it belongs to no resource of this program: remove it, or keep it in a file for the program that has it"
  }

  /// Whether the object at `section`, or the whole file, holds objects of resources.
  private func mayHoldResources(_ section: String) -> Bool {
    section.isEmpty || sections.contains { $0.path.hasPrefix(section + ".") }
  }

  /// The known variable that is most similar to the unknown variable `name`: one of the same engine or object, otherwise
  /// one outside of them; `nil` if none is similar.
  func nearestVariable(to name: String) -> String? {
    let prefix = prefix(ofVariable: name).map { (written: $0, meant: $0) } ?? misspelledPrefix(ofVariable: name)
    guard let prefix else { return misspelledName(name) }
    let rest = String(name.dropFirst(prefix.written.count))
    let known = keys.compactMap(\.variable).map { names.prefix + $0 }.filter { $0.hasPrefix(prefix.meant) }
      .map { String($0.dropFirst(prefix.meant.count)) }
    // CITIES_BASE_URL is near to URL, though not by its letters.
    let near = Spelling.nearest(to: rest, among: known) ?? known.first { $0.hasSuffix("_" + rest) }
    return near.map { prefix.meant + $0 } ?? misspelledName(name)
  }

  /// A hint with the variables that may be meant by `name`, which is named like those of an engine or object but is not
  /// near to any; `nil` if it is not named like them. TTL stands for TIME_TO_LIVE.
  func hint(forIgnored name: String) -> String? {
    guard let prefix = prefix(ofVariable: name), nearestVariable(to: name) == nil else { return nil }
    let known = keys.compactMap(\.variable).map { names.prefix + $0 }.filter { $0.hasPrefix(prefix) }
    let rest = name.dropFirst(prefix.count)
    let meant = known.first { $0.dropFirst(prefix.count).split(separator: "_").compactMap(\.first).elementsEqual(rest) }
    return meant.map { "the nearest known variable is \($0)" } ?? "known are \(known.joined(separator: ", "))"
  }

  /// The names of the keys and objects in the object at `section`, in the order of the declarations.
  package func children(of section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    let names = paths.filter { $0.hasPrefix(prefix) }.map { path in
      String(path.dropFirst(prefix.count).prefix { $0 != "." })
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  /// The paths of all keys and of the objects that contain them.
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

/// One key of the configuration, declared once: reading, checking, showing, the schema and the example all derive from
/// it.
package struct ConfigurationKey: Sendable {
  /// The path of the key: the names of the enclosing objects and its own, joined by full stops.
  package let path: String
  package let kind: ConfigurationKind
  /// The default; `nil` if there is none, or another key decides it.
  package let defaultValue: ConfigurationValue?
  /// The purpose of the key, in one line without a final full stop.
  package let help: String
  /// The environment variable that the declaration names, without the program's prefix; otherwise the name derives from
  /// the path.
  let ownVariable: String?
  /// What decides the key if nothing sets it.
  let rule: ConfigurationRule?

  init(
    _ path: String, _ kind: ConfigurationKind, default defaultValue: ConfigurationValue? = nil,
    help: String, variable: String? = nil, rule: ConfigurationRule? = nil
  ) {
    self.path = path
    self.kind = kind
    self.defaultValue = defaultValue
    self.help = help
    ownVariable = variable
    self.rule = rule
  }

  /// The key for `option` of the engine called `engine`.
  init(_ option: EngineOption, of engine: String) {
    self.init(
      Self.path(of: option.name, engine), option.isSecret ? .secret : .option(option.kind),
      default: option.isSecret ? nil : option.defaultValue.map(ConfigurationValue.option),
      help: option.help)
  }

  /// The environment variable that overrides the file, without the program's prefix; `nil` for headers and lists of
  /// secrets, which are several values. Computed on demand, because most processes have few such variables.
  package var variable: String? {
    if let ownVariable { return ownVariable }
    if !kind.isSingle { return nil }
    let names = path.split(separator: ".")
    return names.dropFirst(names[0] == Self.engines ? 1 : 0).map { Self.upperSnakeCase(String($0)) }
      .joined(separator: "_")
  }

  /// The path of `option` of `engine`.
  static func path(of option: String, _ engine: String) -> String { engines + "." + engine + "." + option }

  /// The path of the key that chooses the engine.
  package static var engine: String { "backend" }

  /// The object that contains one object per engine.
  package static var engines: String { "backends" }

  /// `name`, in camel case and ASCII, as part of a variable name: mapSize becomes MAP_SIZE.
  package static func upperSnakeCase(_ name: String) -> String {
    var bytes: [UInt8] = []
    var isInWord = false
    for byte in name.utf8 {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      if isUpper, isInWord { bytes.append(UInt8(ascii: "_")) }
      bytes.append(isLower ? byte - 0x20 : byte)
      isInWord = !isUpper
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
