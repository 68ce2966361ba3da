internal import CacheBase
package import CacheCore
package import EngineAPI
package import HTTPCaching

/// A section of the configuration: the one place that declares its keys and the typed values they become.
///
/// What the file, the environment variables and the program's arguments can say follows from the declaration:
///
///     struct TidesSettings: ConfigurationSection {
///       static let path = "origin.tides"
///       let harbor: String?
///       let timeout: Duration
///
///       init(_ keys: inout SectionReader) {
///         harbor = keys.optionalText("harbor", help: "the harbor that is shown by default")
///         timeout = keys.duration("timeout", default: .seconds(5), help: "the maximum time for a request")
///       }
///     }
public protocol ConfigurationSection: Sendable {
  /// The names of the objects around its keys, joined by full stops, such as "cache" or "origin.cities"; empty for keys
  /// outside of all objects.
  static var path: String { get }

  /// Declares the keys, in the order of display, and reads their values.
  init(_ keys: inout SectionReader)
}

/// An engine whose options are keys. They are declared only if they are needed.
package struct DeclaredEngine: Sendable {
  /// The engine's name.
  package let name: String
  /// The engine's declaration, which is made at each access.
  package var declaration: EngineDeclaration { make() }
  private let make: @Sendable () -> EngineDeclaration

  /// The engine `name` with that declaration.
  package init(_ name: String, _ declaration: @autoclosure @escaping @Sendable () -> EngineDeclaration) {
    self.name = name
    make = declaration
  }
}

/// The engines, sections and eviction policies of a program: all that its keys are made of.
struct ProgramDeclarations: Sendable {
  /// The built-in engines, the default first.
  let engines: [DeclaredEngine]
  /// Whether the configuration can name engines that are not built in.
  let loadsEngines: Bool
  /// The sections with the keys outside of all objects, and those on which it depends what engine is loaded.
  let first: [any ConfigurationSection.Type]
  /// The sections that every command needs.
  let common: [any ConfigurationSection.Type]
  /// All others, in the order of display.
  let others: @Sendable () -> [any ConfigurationSection.Type]
  /// The eviction policies, the default first.
  let policies: [EvictionPolicy]

  /// All sections, in the order of display.
  var sections: [any ConfigurationSection.Type] { first + common + others() }
}

/// Declares the keys of sections and reads their values, both with one call for each key. It reads each section once.
///
/// A command needs few keys: a section of which the configuration says nothing is read when a command uses its values.
///
/// `help` says what the key is for, in one line without a final full stop.
public struct SectionReader: Sendable {
  let sources: SettingSources
  private let program: ProgramDeclarations
  /// The engines whose options are keys: those that are built in, and then those that were loaded.
  package internal(set) var engines: [DeclaredEngine]
  /// Whether all sections and the options of all engines have been read.
  private var isComplete = false

  /// The keys declared so far, with their values, in the order of display.
  package private(set) var settings: [Setting] = []
  /// The mistakes in the values, at most `maximumProblems`.
  package private(set) var problems: [ConfigurationError] = []
  /// The first contradiction between declarations.
  private(set) var defect: ConfigurationError?
  private var sections: [any ConfigurationSection] = []

  /// The path of the section that is read.
  package private(set) var section = ""
  /// The place of the first key of that section.
  private var start = 0
  /// The type of that section; `nil` for the options of an engine.
  private var type: (any ConfigurationSection.Type)?
  /// The members of that section in the file.
  private var members: [JSONDocument.Member] = []

  /// The maximum number of reported mistakes: enough to correct a file, and a limit on the work for a hopeless one.
  static let maximumProblems = 100

  init(_ sources: SettingSources, _ program: ProgramDeclarations) {
    self.sources = sources
    self.program = program
    engines = program.engines
    settings.reserveCapacity(64)
  }

  /// The eviction policies, the default first.
  var policies: [EvictionPolicy] { program.policies }
  /// Whether the configuration can name engines that are not built in.
  var loadsEngines: Bool { program.loadsEngines }
  /// The paths of all sections of the program.
  package var sectionPaths: [String] { program.sections.map { $0.path } }

  /// Reads what every command needs: the name of the engine, its options, and the common sections.
  ///
  /// - Returns: whether that is enough, because the configuration names a built-in engine, has no other keys and no
  ///   mistake.
  mutating func readCommonKeys() -> Bool {
    readEngine()
    guard let engine = engines.first(where: { $0.name == self[Setting.engine]?.value?.text }) else { return false }
    readOptions(of: [engine])
    for section in program.common { read(section) }
    return problems.isEmpty && declaresEveryName
  }

  /// Reads every key: first those that say which engines are needed, then the options of all engines, then the others.
  ///
  /// - Parameter load: adds the engines that are needed and not built in.
  mutating func readAll(loading load: (inout SectionReader) -> Void = { _ in }) {
    isComplete = true
    readEngine()
    for section in program.first { read(section) }
    load(&self)
    readOptions(of: engines)
    for section in program.common { read(section) }
    for section in program.others() { read(section) }
    reportUnknownNames()
  }

  /// A reader of the same sources that has read every key.
  func completed() -> SectionReader {
    if isComplete { return self }
    var reader = SectionReader(sources, program)
    reader.readAll()
    return reader
  }

  /// Reads the section `type`.
  private mutating func read<Section: ConfigurationSection>(_ type: Section.Type) {
    begin(Section.path, type)
    let section = Section(&self)
    sections.append(section)
  }

  /// Reads the key that names the engine.
  private mutating func readEngine() {
    begin("", nil)
    let names = engines.map(\.name)
    _ = key(
      Setting.engine, loadsEngines ? .backend(names) : .option(.choice(names)),
      default: names.first.map(SettingValue.text), help: "the storage engine")
  }

  /// Reads the options of `engines`. They are shown after the keys outside of all objects.
  private mutating func readOptions(of engines: [DeclaredEngine]) {
    let end = settings.endIndex
    for engine in engines {
      begin(Setting.path(of: engine.name), nil)
      for option in engine.declaration.options {
        let kind = option.isSecret ? SettingKind.secret : .option(option.kind)
        // On a server, programs have their own stores.
        let isName = option.kind == .storeName && option.defaultValue != nil
        let value = isName ? .text(sources.names.program) : option.isSecret ? nil : option.defaultValue
        _ = key(option.name, kind, default: value.map(SettingValue.option), help: option.help)
      }
    }
    let options = settings[end...]
    settings.removeSubrange(end...)
    settings.insert(contentsOf: options, at: settings.firstIndex { !$0.section.isEmpty } ?? end)
  }

  private mutating func begin(_ path: String, _ type: (any ConfigurationSection.Type)?) {
    section = path
    start = settings.indices.first { settings[$0].section == path } ?? settings.endIndex
    self.type = type
    members = sources.members(of: path)
  }

  /// The values of a section, which is read now unless it has been.
  package func section<Section: ConfigurationSection>(_ section: Section.Type) -> Section {
    // Types are compared first: a cast that fails is slow, and each start of a program asks for a dozen sections.
    for read in sections where Swift.type(of: read) == section {
      if let section = read as? Section { return section }
    }
    var reader = SectionReader(sources, program)
    reader.begin(Section.path, nil)
    return Section(&reader)
  }

  /// The full path of the key called `name`.
  package func path(_ name: String) -> String { section.isEmpty ? name : section + "." + name }

  /// The key at `path`; `nil` if none has been declared there.
  package subscript(path: String) -> Setting? {
    // A path that begins with a full stop is none.
    guard let end = path.utf8.lastIndex(of: UInt8(ascii: ".")), end > path.startIndex else {
      return find(path, in: "", from: 0)
    }
    return find(String(path[path.utf8.index(after: end)...]), in: String(path[..<end]), from: 0)
  }

  /// The key called `name` of the section that is read; `nil` if none has been declared yet.
  package func declared(_ name: String) -> Setting? { find(name, in: section, from: start) }

  /// A linear search: filling a dictionary costs a process more than the lookups save.
  private func find(_ name: String, in section: String, from start: Int) -> Setting? {
    // By index: a closure would get a copy of each key. Comparing the lengths first takes a few instructions.
    for index in start..<settings.endIndex
    where settings[index].name.utf8.count == name.utf8.count && settings[index].name == name
      && settings[index].section == section
    {
      return settings[index]
    }
    return nil
  }

  /// Declares the key called `name`, and returns its value: an argument of the program overrides the environment, which
  /// overrides the file, which overrides `value`. It checks the value of each of them.
  ///
  /// - Parameters:
  ///   - value: the default.
  ///   - other: the path of the key that decides the default; `nil` if it is always the same.
  ///   - variable: the environment variable without the program's prefix; `nil` for one that follows from the path.
  package mutating func key(
    _ name: String, _ kind: SettingKind, default value: SettingValue? = nil, following other: String? = nil,
    variable: String? = nil, help: String
  ) -> SettingValue? {
    var setting = Setting(
      section: section, name: name, kind: kind, help: help, ownVariable: variable, type: type,
      value: value.map { sources.resolving($0, kind) }, source: other.map { .derived($0) } ?? .default)
    if let first = declared(name), defect == nil {
      defect = ConfigurationError(
        .defect, "the key '\(first.path)' is declared twice: in \(first.declaration) and in \(setting.declaration)",
        hint: "rename one of the two in the program", key: first.path)
    }
    for (input, source) in sources.inputs(for: setting, members.first { $0.key == name }) {
      guard let checked = checkedValue(input, of: kind, at: setting.path, source) else { continue }
      setting.value = checked
      setting.source = source
    }
    let checked = setting.value
    settings.append(setting)
    return checked
  }

  /// The checked value of `input`, which `source` says of the key at `path`; `nil`, after reporting it, if it is a mistake.
  mutating func checkedValue(
    _ input: SettingInput, of kind: SettingKind, at path: String, _ source: ConfigurationSource
  ) -> SettingValue? {
    do throws(SettingKind.Mismatch) {
      return sources.resolving(try kind.value(input, sources.environment), kind)
    } catch {
      var source = source
      if case .file(let file, _) = source, let place = error.place { source = .file(file, place) }
      report(error.code, source, "'\(path)\(error.part)' \(error.message)", hint: error.hint, key: path)
      return nil
    }
  }

  /// Reports a mistake in what `source` says.
  package mutating func report(
    _ code: ConfigurationError.Code, _ source: ConfigurationSource, _ message: String, hint: String, key: String?
  ) {
    report(ConfigurationError(code, "\(source): \(message)", hint: hint, key: key, source: source))
  }

  /// Reports a mistake.
  mutating func report(_ problem: ConfigurationError) {
    if problems.count < Self.maximumProblems { problems.append(problem) }
  }

  /// Reports that the key at `path` must have a value because of the value of the one at `other`, unless it has one or a
  /// mistake.
  package mutating func require(_ path: String, by other: String, _ reason: String, hint: String) {
    let isWrong = problems.contains { $0.key == path }
    guard let source = self[other]?.source, self[path]?.value == nil, !isWrong else { return }
    report(.missing, source, "'\(path)' is missing, \(reason)", hint: hint, key: path)
  }

  /// The mistakes: first the file's, in the order of their places, then the environment's, then the flags'.
  var sortedProblems: [ConfigurationError] {
    problems.enumerated().sorted { left, right in
      let (first, second) = (left.element.source?.rank ?? (3, 0, 0), right.element.source?.rank ?? (3, 0, 0))
      return first == second ? left.offset < right.offset : first < second
    }.map(\.element)
  }

  /// The path of the key that names the engine with the store: if the configured engine is made of others, the key of the
  /// remote one.
  var storeKey: String {
    guard let name = self[Setting.engine]?.value?.text, !engines.contains(where: { $0.name == name }) else {
      return Setting.engine
    }
    let remote = Setting.path(of: name) + ".remote"
    return self[remote] == nil ? Setting.engine : remote
  }

  /// The engine with the store if it is not known yet.
  package var engineToLoad: EngineReference? {
    guard let setting = self[storeKey], let name = setting.value?.text, !engines.contains(where: { $0.name == name })
    else { return nil }
    return EngineReference(name, setting.source, key: setting.path)
  }
}

/// The kinds of keys.
extension SectionReader {
  /// Declares a choice between the cases of a type.
  @inlinable
  public mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default value: Choice, help: String
  ) -> Choice where Choice.RawValue == String {
    // The caller compiles the part that depends on the type: looking up its conformances would cost each start of a
    // program.
    choice(name, among: Choice.allCases.map(\.rawValue), default: value.rawValue, help: help)
      .flatMap { Choice(rawValue: $0) } ?? value
  }

  @usableFromInline
  mutating func choice(_ name: String, among names: [String], default value: String, help: String) -> String? {
    key(name, .option(.choice(names)), default: .text(value), help: help)?.text
  }

  /// Declares a duration, by default of at most ten years of 365 days.
  public mutating func duration(
    _ name: String, default value: Duration, in range: ClosedRange<Duration> = .zero ... .seconds(315_360_000),
    help: String
  ) -> Duration {
    let milliseconds = range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds
    let read = key(name, .option(.duration(milliseconds)), default: .integer(value.wholeMilliseconds), help: help)
    return read?.number.map { .milliseconds($0) } ?? value
  }

  /// Declares a whole number.
  public mutating func integer(
    _ name: String, default value: Int, in range: ClosedRange<Int64>, help: String
  ) -> Int {
    key(name, .option(.integer(range)), default: .integer(Int64(value)), help: help)?.number.map { Int($0) } ?? value
  }

  /// Declares a number of bytes.
  public mutating func size(
    _ name: String, default value: Int, in range: ClosedRange<Int64>, help: String
  ) -> Int {
    key(name, .option(.size(range)), default: .integer(Int64(value)), help: help)?.number.map { Int($0) } ?? value
  }

  /// Declares a flag.
  public mutating func boolean(_ name: String, default value: Bool, help: String) -> Bool {
    guard
      case .option(.boolean(let flag))? = key(name, .option(.boolean), default: .option(.boolean(value)), help: help)
    else { return value }
    return flag
  }

  /// Declares a text, `nil` if it is not set.
  public mutating func optionalText(_ name: String, help: String) -> String? {
    key(name, .option(.text), help: help)?.text
  }

  /// Declares a path, which becomes absolute; `nil` if it is not set.
  public mutating func optionalPath(_ name: String, help: String) -> String? {
    key(name, .option(.path), help: help)?.text
  }

  /// Declares a secret, for which the file names an environment variable; `nil` if it is not set.
  public mutating func secret(_ name: String, help: String) -> Secret? {
    if case .secret(let secret)? = key(name, .secret, help: help) { return secret }
    return nil
  }

  /// Declares a list of secrets; `nil` if it is not set.
  public mutating func secrets(_ name: String, help: String) -> [Secret]? {
    if case .secrets(let secrets)? = key(name, .secrets, help: help) { return secrets }
    return nil
  }

  /// Declares header fields; none by default.
  public mutating func headers(_ name: String, help: String) -> [HeaderSetting] {
    if case .headers(let headers)? = key(name, .headers, default: .headers([]), help: help) { return headers }
    return []
  }
}

/// The keys of the section `cache` that every program has.
package struct CacheKeys: Sendable, Hashable {
  /// How long an entry is used.
  package let freshness: FreshnessPolicy
  /// How much the store can hold, and which entries are evicted first.
  package let limits: StoreLimits
  /// Whether this is a shared cache as defined by RFC 9111.
  package let isShared: Bool

  /// Declares and reads the keys, with the defaults in `standard`.
  package init(_ keys: inout SectionReader, default standard: FreshnessPolicy) {
    freshness = FreshnessPolicy(
      timeToLive: keys.duration(
        "timeToLive", default: standard.timeToLive, help: "the lifetime of an entry whose origin gives none"),
      staleIfError: keys.duration(
        "staleIfError", default: standard.staleIfError,
        help: "the time for which a stale entry is served if its origin fails"),
      staleWhileRevalidate: keys.duration(
        "staleWhileRevalidate", default: standard.staleWhileRevalidate,
        help: "the time for which a stale entry is served while it is revalidated"))
    let maxEntries = keys.integer(
      "maxEntries", default: StoreLimits.standard.maxEntries, in: 1...1_000_000_000,
      help: "the maximum number of entries")
    let maxBytes = keys.size(
      "maxBytes", default: StoreLimits.standard.maxBytes, in: 1_024...(1 << 50),
      help: "the maximum size of all payloads")
    let policies = keys.policies
    let policy = keys.key(
      "eviction", .option(.choice(policies.map(\.name))), default: policies.first.map { .text($0.name) },
      help: "the policy that selects entries to evict when a limit is reached")
    let eviction = policies.first { $0.name == policy?.text } ?? policies.first ?? .lru
    limits = StoreLimits(maxEntries: maxEntries, maxBytes: maxBytes, eviction: eviction)
    isShared = keys.boolean(
      "shared", default: false, help: "whether several users share the cache (RFC 9111)")
  }
}
