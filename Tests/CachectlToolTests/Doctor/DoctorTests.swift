import CachePresentation
import EngineAPI
import EngineConformance
import FetchVocabulary
import Foundation
import Synchronization
import TestStorage
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

struct DoctorTests {
  private let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))

  /// Returns the findings of the doctor with one engine called "fake".
  private func examine(
    _ plugin: FakePlugin, files: FakeFiles = sound, file text: String = "{}", environment: [String: String] = [:]
  ) async throws -> (checks: [JSONValue], worst: CacheError.Code?) {
    let catalogue = PluginCatalogue([plugin])
    let loader = ConfigurationLoader(
      engines: catalogue.declarations, sections: Fixtures.sections, environment: EnvironmentVariables(environment),
      workingDirectory: "/w", userHome: "/u", readFile: { path in path == "/w/c.json" ? Array(text.utf8) : nil })
    let doctor = Doctor(loader: loader, catalogue: catalogue, clock: clock, files: files)
    let flags = ConfigurationFlags(file: "/w/c.json", backend: "fake", home: "/u/home")
    let (view, worst) = try await doctor.examine(flags)
    return (view.records, worst)
  }

  private static var sound: FakeFiles {
    var files = FakeFiles()
    for path in ["/u", "/u/home", "/w"] { files.files[path] = .folder() }
    files.files["/w/c.json"] = .file()
    files.files["/u/home/store"] = .file()
    return files
  }

  private func results(_ checks: [JSONValue], of name: String) -> [JSONValue] {
    checks.filter { $0["name"] == .string(name) }.compactMap { $0["result"] }
  }

  private func messages(_ checks: [JSONValue]) -> String {
    checks.map { "\($0["message"] ?? .null)" }.joined(separator: "\n")
  }

  private static let inspection = StoreInspection(
    path: "/u/home/store", files: ["/u/home/store"], format: 2, currentFormat: 2)

  @Test func aRefusedValueOfAnOptionIsFoundInTheFile() async throws {
    let failure = CacheError(.invalidOption, "option 'url': it is wrong", hint: "mend it")
    let plugin = FakePlugin("fake", options: [EngineOption("url", .text, help: "where it is")], .init(failure: failure))
    let (checks, worst) = try await examine(plugin, file: #"{"backends": {"fake": {"url": "x"}}}"#)
    #expect(worst == .invalidOption)
    #expect(messages(checks).contains(#"/w/c.json:1:31: option \'url\': it is wrong"#), "\(messages(checks))")
  }

  private static let sealings: [(section: String, results: [JSONValue], worst: CacheError.Code?, message: String)] = [
    (#""key": {"env": "KEY"}"#, [], nil, ""),
    (#""key": {"env": "KEY"}, "required": false"#, ["warning"], nil, "entries that are not sealed are served too"),
    (#""key": {"env": "MISSING"}"#, ["problem"], .invalidOption, "MISSING"),
    (#""keys": [{"env": "KEY"}, {"env": "SHORT"}]"#, ["problem"], .invalidOption, "SHORT: the key"),
  ]

  @Test(arguments: sealings) func sealsAreChecked(
    section: String, results expected: [JSONValue], worst: CacheError.Code?, message: String
  ) async throws {
    let plugin = FakePlugin("fake", .init(inspection: Self.inspection, times: [clock.now]))
    let text = #"{"cache": {"transforms": ["sealed"]}, "transforms": {"sealed": {\#(section)}}}"#
    let environment = ["KEY": String(repeating: "0a", count: 32), "SHORT": "abc"]
    let (checks, found) = try await examine(plugin, file: text, environment: environment)
    #expect(results(checks, of: "transforms") == expected, "\(checks)")
    #expect(found == worst)
    #expect(message.isEmpty || messages(checks).contains(message), "\(messages(checks))")
  }

  @Test func aHealthySetupHasNoProblems() async throws {
    let plugin = FakePlugin("fake", .init(inspection: Self.inspection, times: [clock.now]))
    let (checks, worst) = try await examine(plugin)
    #expect(worst == nil)
    #expect(checks.allSatisfy { $0["result"] == "ok" && $0["hint"] == .null }, "\(messages(checks))")
    #expect(checks.compactMap { $0["name"] } == ["configuration", "home", "plugins", "space", "fake", "clock"])
    #expect(messages(checks).contains("1 entry, format version 2"))
    #expect(plugin.log == ["inspect", "open", "close"])
  }

  @Test func aStoreOnAServerHasNoFilesAndIsOpened() async throws {
    let inspection = StoreInspection(path: "server:1", exists: true, files: [], format: 2, currentFormat: 2)
    let plugin = FakePlugin("fake", .init(inspection: inspection, times: [clock.now]))
    let (checks, worst) = try await examine(plugin)
    #expect(worst == nil)
    #expect(messages(checks).contains("server:1 opens: 1 entry, format version 2"), "\(messages(checks))")
  }

  /// Whether there is a store yet, or not.
  @Test(arguments: [true, false]) func factsAboutThePlaceAreWarnings(exists: Bool) async throws {
    let inspection = StoreInspection(
      path: "server:1", exists: exists, files: [], format: 2, currentFormat: 2, caution: "it drops what it likes")
    let (checks, worst) = try await examine(FakePlugin("fake", .init(inspection: inspection, times: [clock.now])))
    #expect(results(checks, of: "fake") == ["warning", "ok"] && worst == nil)
    #expect(messages(checks).contains("it drops what it likes"))
  }

  /// The address that nobody has configured may lead to someone else's server.
  @Test func aServerIsOnlyAskedIfItIsTheConfiguredBackend() async throws {
    let server = FakePlugin(
      "server", options: [EngineOption("prefix", .storeName, default: .text("x"), help: "its name")],
      .init(failure: CacheError(.unreachable, "it does not answer")))
    let local = FakePlugin("local", .init(inspection: Self.inspection))
    let catalogue = PluginCatalogue([local, server])
    for (backend, result) in [("local", "ok"), ("server", "problem")] as [(String, JSONValue)] {
      let loader = ConfigurationLoader(
        engines: catalogue.declarations, sections: Fixtures.sections, environment: [:], workingDirectory: "/w",
        userHome: "/u", readFile: { _ in nil })
      let doctor = Doctor(loader: loader, catalogue: catalogue, clock: clock, files: Self.sound)
      let (view, worst) = try await doctor.examine(ConfigurationFlags(backend: backend, home: "/u/home"))
      #expect(results(view.records, of: "server") == [result])
      #expect((worst == .unreachable) == (backend == "server"))
    }
    #expect(server.log == ["inspect"])
  }

  @Test func aStoreWithItsOwnLimitsNeedsNoSpaceForTheLimitsOfTheCache() async throws {
    var files = Self.sound
    files.free = FileSystemSpace(free: 65 << 20, isReadOnly: false)
    let plugin = FakePlugin("fake", capabilities: [.persistent], .init(inspection: Self.inspection))
    #expect(results(try await examine(plugin, files: files).checks, of: "space") == ["ok"])
    let bounded = FakePlugin("fake", .init(inspection: Self.inspection))
    #expect(results(try await examine(bounded, files: files).checks, of: "space") == ["warning"])
  }

  @Test func aStoreFileThatMayOnlyBeReadIsAWarning() async throws {
    var files = Self.sound
    files.readOnly = ["/u/home/store"]
    let plugin = FakePlugin("fake", .init(inspection: Self.inspection, times: [clock.now]))
    let (checks, worst) = try await examine(plugin, files: files)
    #expect(results(checks, of: "fake") == ["warning", "ok"] && worst == nil)
    #expect(messages(checks).contains("/u/home/store may only be read: nothing new is stored"))
  }

  @Test func theFileOfSomeoneElseInThePlaceOfTheUsesIsAWarning() async throws {
    let home = try TestHome()
    let container = try home.container(backend: "sqlite")
    try await container.openStore().close()
    let plugin = try container.catalogue.plugin(named: "sqlite")
    let check = StoreCheck(plugin: plugin, container: container, checks: FileChecks(files: SystemFileInspection()))
    #expect(await check.run().findings.map(\.verdict) == ["ok"])
    let path = home.home + "/cache.sqlite.uses"
    try Data("not ours".utf8).write(to: URL(filePath: path))
    let findings = await check.run().findings
    #expect(findings.map(\.verdict) == ["warning", "ok"])
    #expect(findings.first?.message.hasPrefix("\(path) is not a file of cachectl") == true)
  }

  @Test(arguments: [CacheError.Code.unreachable, .permissionDenied])
  func aServerThatDoesNotRespondIsAProblem(code: CacheError.Code) async throws {
    let failure = CacheError(code, "the server does not answer", hint: "start it")
    let (checks, worst) = try await examine(FakePlugin("fake", .init(failure: failure)))
    #expect(results(checks, of: "fake") == ["problem"])
    #expect(worst?.rawValue == code.rawValue)
  }

  @Test(
    arguments: [
      (nil, [], "ok", nil), (nil, ["/u/home/store"], "problem", "damaged"),
      (1, ["/u/home/store"], "problem", "unsupportedFormat"),
      (3, ["/u/home/store"], "problem", "unsupportedFormat"),
    ] as [(Int?, [String], JSONValue, String?)])
  func aStoreOfAnotherFormatIsNotOpened(format: Int?, paths: [String], result: JSONValue, code: String?) async throws {
    let inspection = StoreInspection(path: "/u/home/store", files: paths, format: format, currentFormat: 2)
    let plugin = FakePlugin("fake", .init(inspection: inspection))
    let (checks, worst) = try await examine(plugin)
    #expect(results(checks, of: "fake") == [result])
    #expect(worst?.rawValue == code)
    #expect(plugin.log == ["inspect"], "nothing is made or changed")
  }

  @Test func anEngineThatCannotTellIsNotOpened() async throws {
    let plugin = FakePlugin("fake")
    let (checks, worst) = try await examine(plugin)
    #expect(results(checks, of: "fake") == ["ok"] && messages(checks).contains("cannot look"))
    #expect(worst == nil && plugin.log == ["inspect"])
  }

  @Test func anEngineThatKeepsNothingIsNotAsked() async throws {
    let plugin = FakePlugin("fake", capabilities: [])
    #expect(try await examine(plugin).worst == nil)
    #expect(plugin.log.isEmpty)
  }

  @Test(arguments: [CacheError.Code.permissionDenied, .ioFailed, .busy, .damaged])
  func openingFailuresAreProblems(code: CacheError.Code) async throws {
    let failure = CacheError(code, "no entry", hint: "knock")
    for behaviour in [
      FakePlugin.Behaviour(failure: failure), .init(inspection: Self.inspection, openingFailure: failure),
    ] {
      let (checks, worst) = try await examine(FakePlugin("fake", behaviour))
      #expect(results(checks, of: "fake") == ["problem"] && worst?.rawValue == code.rawValue)
      let hint = checks.first { $0["result"] == "problem" }?["hint"]
      let repairs = code == .damaged && behaviour.openingFailure != nil
      #expect(hint == .string(repairs ? "cachectl --backend fake verify --repair" : "knock"))
    }
  }

  @Test func filesOfAStoreAreForTheirOwner() async throws {
    var files = Self.sound
    files.files["/u/home/store"] = .file(mode: 0o644)
    let readable = FakePlugin("fake", .init(inspection: Self.inspection))
    #expect(results(try await examine(readable, files: files).checks, of: "fake") == ["warning", "ok"])
    files.files["/u/home/store"] = .file(mode: 0o666)
    let writable = try await examine(readable, files: files)
    #expect(results(writable.checks, of: "fake") == ["problem", "ok"])
    #expect(writable.worst?.rawValue == "permissionDenied")
  }

  @Test func processesThatUseAStoreAreNamed() async throws {
    var files = Self.sound
    files.links = ["/proc/41/fd/3": "/u/home/store"]
    files.texts = ["/proc/41/comm": "sqlite3\n"]
    let plugin = FakePlugin("fake", .init(inspection: Self.inspection))
    let (checks, worst) = try await examine(plugin, files: files)
    #expect(messages(checks).contains("in use by sqlite3 (process 41)"))
    #expect(worst == nil)
  }

  @Test(
    arguments: [
      (1_699_999_999_000, "ok"), (1_700_000_060_000, "ok"), (1_700_000_060_001, "warning"),
    ] as [(Int64, JSONValue)])
  func noFileIsFromTheFuture(changed: Int64, result: JSONValue) async throws {
    var files = Self.sound
    files.files["/u/home/store"] = .file(changedAt: changed)
    let plugin = FakePlugin("fake", .init(inspection: Self.inspection))
    let (checks, worst) = try await examine(plugin, files: files)
    #expect(results(checks, of: "clock") == [result], "\(messages(checks))")
    #expect(worst == nil, "a clock is only warned of")
  }

  @Test func aProgramOfTheFutureIsAWarning() async throws {
    var files = Self.sound
    files.files["/proc/self/exe"] = .file(changedAt: 1_800_000_000_000)
    let (checks, _) = try await examine(FakePlugin("fake"), files: files)
    #expect(results(checks, of: "clock") == ["warning"])
  }

  @Test func everyMistakeOfTheConfigurationIsNamedAndTheHomeStillExamined() async throws {
    var files = Self.sound
    files.files["/u/home"] = .folder(mode: 0o777)
    let plugin = FakePlugin("fake")
    let text = #"{"bakend": "x", "cache": {"maxEntries": 0}}"#
    let (checks, worst) = try await examine(plugin, files: files, file: text)
    #expect(worst?.rawValue == "invalidOption")
    #expect(results(checks, of: "configuration") == ["problem", "problem"])
    #expect(messages(checks).contains("/w/c.json:1:2") && messages(checks).contains("cache.maxEntries"))
    #expect(results(checks, of: "home") == ["problem"])
    #expect(results(checks, of: "stores") == ["warning"] && plugin.log.isEmpty)
  }

  @Test func aConfigurationThatOthersMayChangeIsAProblem() async throws {
    var files = Self.sound
    files.files["/w/c.json"] = .file(mode: 0o602)
    let (checks, worst) = try await examine(FakePlugin("fake"), files: files)
    #expect(results(checks, of: "configuration") == ["problem"] && worst?.rawValue == "permissionDenied")
  }

  @Test func movedStoresAreNamed() async throws {
    var files = Self.sound
    for name in ["store.damaged-1", "store.damaged-2", "store.uses", "other.damaged-1"] {
      files.files["/u/home/\(name)"] = .file()
    }
    let (checks, worst) = try await examine(FakePlugin("fake", .init(inspection: Self.inspection)), files: files)
    #expect(results(checks, of: "set aside") == ["warning"] && worst == nil)
    #expect(messages(checks).contains("/u/home/store.damaged-1 was moved aside as damaged (1 more, "))
    let hint = "cachectl --backend fake --set backends.fake.path=/u/home/store.damaged-1 verify --repair"
    #expect(checks.contains { $0["name"] == "set aside" && "\($0["hint"] ?? .null)".contains(hint) }, "\(checks)")
  }

  /// A command in a hint can be pasted into a shell, whatever the path.
  @Test(arguments: [UInt32(0o602), 0o644, 0o777])
  func pathsInHintsAreQuoted(mode: UInt32) async throws {
    let checks = FileChecks(files: FakeFiles(files: ["/a b": .folder(mode: mode), "/": .folder()]))
    let hints = checks.home("/a b").map(\.hint).filter { $0.hasPrefix("chmod") }
    #expect(!hints.isEmpty && hints.allSatisfy { $0.hasSuffix("'/a b'") }, "\(hints)")
  }

  /// An engine moves a store aside next to the target of a link.
  @Test func movedStoresNextToTheTargetOfALinkAreNamed() async throws {
    var files = Self.sound
    files.links["/u/home/store"] = "/data/store"
    files.realPaths["/u/home/store"] = "/data/store"
    files.files["/data"] = .folder()
    files.files["/data/store.damaged-1"] = .file()
    let (checks, _) = try await examine(FakePlugin("fake", .init(inspection: Self.inspection)), files: files)
    #expect(messages(checks).contains("/data/store.damaged-1 was moved aside as damaged ("), "\(messages(checks))")
  }

  @Test func aFlagThatIsWrongIsAMistakeOfTheCommandLine() async throws {
    let loader = ConfigurationLoader(
      engines: [], environment: [:], workingDirectory: "/w", userHome: "/u", readFile: { _ in nil })
    let doctor = Doctor(loader: loader, catalogue: PluginCatalogue([]), clock: clock, files: Self.sound)
    await #expect(throws: ConfigurationError.self) {
      try await doctor.examine(ConfigurationFlags(file: "/w/none.json"))
    }
  }

  @Test(
    arguments: [
      ([], nil), (["busy", "permissionDenied"], "permissionDenied"), (["noSpace", "damaged"], "damaged"),
      (["damaged", "invalidOption"], "invalidOption"), (["strange"], "strange"), (["strange", "busy"], "busy"),
    ] as [([String], String?)])
  func theMostSeriousProblemCounts(codes: [String], worst: String?) {
    #expect(CacheError.Code.worst(of: codes.map { CacheError.Code(rawValue: $0) })?.rawValue == worst)
  }
}

/// An engine for tests, with configured results of inspections, openings and repairs.
final class FakePlugin: StoragePlugin {
  /// The results of the calls; by default, they use the store.
  struct Behaviour: Sendable {
    var inspection: StoreInspection?
    var failure: CacheError?
    var openingFailure: CacheError?
    var removalFailure: CacheError?
    /// When the entries of the store were stored.
    var times: [Timestamp] = []
    /// How engines misbehave.
    var faults = Faults()
  }

  let declaration: EngineDeclaration
  private let behaviour: Mutex<Behaviour>
  private let registry = StoreRegistry()
  private let calls = Mutex<[String]>([])

  init(
    _ name: String, capabilities: Set<EngineCapability> = [.persistent, .bounded], options: [EngineOption] = [],
    _ behaviour: Behaviour = Behaviour()
  ) {
    declaration = EngineDeclaration(
      name: name, version: "1", summary: "for tests", capabilities: capabilities, options: options)
    self.behaviour = Mutex(behaviour)
  }

  /// The calls, in order, with the suffixes of repairs.
  var log: [String] { calls.withLock { $0 } }

  private func note(_ call: String) -> Behaviour {
    calls.withLock { $0.append(call) }
    return behaviour.withLock { $0 }
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let behaviour = note("open")
    if let failure = behaviour.openingFailure { throw failure }
    let store = RegistryEngine(registry: registry, clock: configuration.clock)
    try await store.apply(try .storing(at: behaviour.times))
    var faults = behaviour.faults
    faults.after = { [self] call, _ throws(CacheError) in if case .close = call { _ = note("close") } }
    return FaultyEngine(over: store, faults)
  }

  func removeStore(_ configuration: EngineConfiguration, movingAside suffix: String?) async throws(CacheError)
    -> [String]
  { throw note("remove").removalFailure ?? CacheError(.unsupported, "cannot remove") }

  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let behaviour = note("inspect")
    if let failure = behaviour.failure { throw failure }
    guard let inspection = behaviour.inspection else { throw CacheError(.unsupported, "cannot look") }
    return inspection
  }
}

extension WriteBatch {
  /// A batch of entries that were stored at `times`.
  fileprivate static func storing(at times: [Timestamp]) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for (number, time) in times.enumerated() {
      batch.put(try CacheKey("cities/v1/page=\(number)"), payload: [1, 2, 3], metadata: EntryMetadata(storedAt: time))
    }
    return batch
  }
}
