import CacheBase
import CacheConfiguration
import CacheCore
import EngineAPI
import FetchVocabulary
import Foundation
import PlistStorage
import ResponseCache
import ResponseCacheConfiguration
import ResponseCacheTesting
import SQLiteStorage
import Testing

/// Caches that are opened by configuration.
@Suite struct ConfiguredCacheTests {
  @Test(arguments: ["sqlite", "plist"]) func aCacheIsOpenedAndOutlivesItsProgram(engine: String) async throws {
    let program = TestProgram()
    defer { program.remove() }
    let environment = ["WEATHER_BACKEND": engine]
    let first = try await Cache(program.configuration(environment: environment))
    try await first.set("rain", for: "Bern")
    try await first.close()
    let second = try await Cache(program.configuration(environment: environment))
    #expect(try await second.value(String.self, for: "Bern") == "rain")
    try await second.close()
  }

  @Test func programsWithDifferentNamesShareNothing() async throws {
    let program = TestProgram()
    defer { program.remove() }
    let environment = ["WEATHER_BACKEND": "plist", "WEATHER_MAP_CACHE_MAX_ENTRIES": "3"]
    try program.write(#"{"cache": {"timeToLive": "5m"}}"#, to: "home/.config/weather/config.json")
    let weather = try program.configuration("weather", environment: environment)
    let map = try program.configuration("weather-map", environment: environment)
    #expect(weather.limits == .standard && map.limits.maxEntries == 3)
    #expect(map.location.plugin.declaration.name == "sqlite" && map.file == nil)
    let caches = (try await Cache(weather), try await Cache(map))
    try await caches.0.set("rain", for: "Bern")
    #expect(try await caches.1.value(String.self, for: "Bern") == nil)
    try await caches.0.close()
    try await caches.1.close()
  }

  @Test func programsOnOneServerHaveSeparateStores() throws {
    for (name, settings, prefix) in [
      ("weather", [:], "weather"), ("weather-map", [:], "weather-map"), ("weather", ["prefix": "shared"], "shared"),
    ] as [(String, [String: String], String)] {
      let keys = settings.map { ("backends.server.\($0.key)", $0.value) }
      let configuration = try TestProgram().configuration(
        name, engines: [ServerPlugin()], settings: Dictionary(uniqueKeysWithValues: keys))
      #expect(configuration.location.options["prefix"] == .text(prefix))
    }
  }

  @Test func aSecretIsGivenToTheEngineAndNotShown() throws {
    let program = TestProgram()
    defer { program.remove() }
    try program.write(
      #"{"backends": {"server": {"password": {"env": "TOKEN"}}}}"#, to: "home/.config/weather/config.json")
    let configuration = try program.configuration(engines: [ServerPlugin()], environment: ["TOKEN": "hush"])
    #expect(configuration.location.options["password"] == .text("hush"))
    #expect(!configuration.settings.contains { "\($0)".contains("hush") })
    let error = #expect(throws: CacheError.self) { try program.configuration(engines: [ServerPlugin()]) }
    #expect(error?.code == .invalidOption && error?.hint == "set TOKEN")
  }

  @Test func resourcesWithoutTimesHaveTheConfiguredTimes() async throws {
    let program = TestProgram()
    defer { program.remove() }
    let clock = ManualClock()
    let configuration = try program.configuration(
      settings: ["cache.timeToLive": "1m", "cache.staleIfError": "2m", "cache.staleWhileRevalidate": "0s"])
    let cache = try await Cache(configuration, clock: clock)
    let origin = FakeOrigin { (city: String) in "rain in \(city)" }
    let configured = try cache.resource("configured", fetch: origin.fetch)
    let own = try cache.resource("own", freshFor: .seconds(600), fetch: origin.fetch)
    for resource in [configured, own] { _ = try await resource("Bern") }
    clock.advance(by: .seconds(61))
    for resource in [configured, own] { _ = try await resource("Bern") }
    #expect(origin.queries.count == 3, "the configured minute is over, the program's ten are not")
    struct Offline: Error {}
    origin.fail(with: Offline())
    clock.advance(by: .seconds(90))
    #expect(try await configured("Bern") == "rain in Bern")
    clock.advance(by: .seconds(91))
    await #expect(throws: Offline.self) { try await configured("Bern") }
    try await cache.close()
  }

  @Test func theConfiguredLimitsAreKept() async throws {
    let program = TestProgram()
    defer { program.remove() }
    let cache = try await Cache(program.configuration(settings: ["cache.maxEntries": "2"]))
    for number in 1...5 { try await cache.set(number, for: "\(number)") }
    #expect(try await cache.keys().count <= 2)
    try await cache.close()
  }
}

/// The cache that a program with a name, a list of engines, files, variables and settings gets.
@Suite struct CacheConfigurationTests {
  @Test(
    arguments: [
      (nil, nil, [:], [:], "sqlite", "default"),
      (nil, "plist", [:], [:], "plist", "home/.config/weather/config.json:1:13"),
      ("plist", "sqlite", [:], [:], "sqlite", "home/.config/weather/config.json:1:13"),
      ("plist", nil, [:], [:], "sqlite", "default"),
      ("plist", nil, ["WEATHER_CONFIG": "weather.json"], [:], "plist", "work/weather.json:1:13"),
      (nil, "sqlite", ["WEATHER_BACKEND": "plist"], [:], "plist", "WEATHER_BACKEND"),
      (nil, "sqlite", ["WEATHER_BACKEND": "sqlite"], ["backend": "plist"], "plist", "settings"),
      (nil, nil, ["CACHECTL_BACKEND": "plist", "CLIMATE_BACKEND": "plist"], [:], "sqlite", "default"),
    ] as [(String?, String?, [String: String], [String: String], String, String)])
  func theEngineIsTheFirstThatIsSet(
    working: String?, own: String?, environment: [String: String], settings: [String: String], engine: String,
    source: String
  ) throws {
    let program = TestProgram()
    defer { program.remove() }
    if let working { try program.write(#"{"backend": "\#(working)"}"#, to: "work/weather.json") }
    if let own { try program.write(#"{"backend": "\#(own)"}"#, to: "home/.config/weather/config.json") }
    let configuration = try program.configuration(settings: settings, environment: environment)
    #expect(configuration.location.plugin.declaration.name == engine)
    let entry = try #require(configuration.settings.first { $0.key == "backend" })
    #expect(entry.text == engine)
    #expect(entry.source.description.hasSuffix(source))
    #expect((configuration.file != nil) == (environment["WEATHER_CONFIG"] != nil || own != nil))
  }

  @Test(
    arguments: [
      ([:], nil, "home/.cache/weather/cache.sqlite"), (["XDG_CACHE_HOME": "/xdg"], nil, "/xdg/weather/cache.sqlite"),
      (["WEATHER_HOME": "/stores"], nil, "/stores/cache.sqlite"),
      (["WEATHER_HOME": "/stores"], "here", "work/here/cache.sqlite"),
      (["WEATHER_SQLITE_PATH": "other.db"], nil, "home/.cache/weather/other.db"),
    ] as [([String: String], String?, String)])
  func theStoreIsInAFolderOfTheProgram(environment: [String: String], home: String?, path: String) throws {
    let program = TestProgram()
    let configuration = try program.configuration(home: home, environment: environment)
    guard case .text(let store)? = configuration.location.options["path"] else {
      Issue.record("the engine has no path")
      return
    }
    #expect(store == (path.hasPrefix("/") ? path : program.root + "/" + path))
  }

  @Test func limitsAndTimesAreConfiguredOrTheDefaultsOfTheLibrary() throws {
    let program = TestProgram()
    #expect(try program.configuration().limits == .standard)
    let configured = try program.configuration(
      settings: ["cache.maxEntries": "5", "cache.maxBytes": "2KiB"],
      environment: ["WEATHER_CACHE_EVICTION": "none", "WEATHER_CACHE_MAX_ENTRIES": "7"])
    #expect(configured.limits == StoreLimits(maxEntries: 5, maxBytes: 2_048, eviction: .none))
    let texts = Dictionary(uniqueKeysWithValues: configured.settings.map { ($0.key, "\($0.text), \($0.source)") })
    #expect(texts["cache.maxBytes"] == "2KiB, settings")
    #expect(texts["cache.eviction"] == "none, WEATHER_CACHE_EVICTION")
    #expect(texts["cache.staleIfError"] == "1d, default")
  }

  /// It may be data, or come from anyone.
  @Test(arguments: ["[1, 2]", #"{"city": "Bern"}"#, #"{"backends": {"sqlite": {"path": "/etc/passwd"}}}"#])
  func aFileInTheWorkingFolderIsNotRead(text: String) throws {
    let program = TestProgram()
    defer { program.remove() }
    try program.write(text, to: "work/weather.json")
    #expect(try program.configuration().file == nil)
  }

  /// Services next to a container, and a program whose name continues this one's.
  @Test(arguments: [
    "WEATHER_CACHE_SERVICE_HOST", "WEATHER_CACHE_SERVICE_PORT", "WEATHER_CACHE_PORT", "WEATHER_CACHE_PORT_6379_TCP",
    "WEATHER_SQLITE_SERVICE_HOST", "WEATHER_SQLITE_PORT", "WEATHER_PLIST_PORT", "WEATHER_CACHE_HOME",
    "WEATHER_CACHE_BACKEND", "WEATHER_CACHE_CONFIG", "WEATHER_CACHE_CACHE_MAX_BYTES", "WEATHER_SERVICE_HOST",
  ])
  func aVariableOfAnotherKindIsIgnored(name: String) throws {
    #expect(try TestProgram().configuration(environment: [name: "10.0.0.1"]).limits == .standard)
  }

  @Test(
    arguments: [
      ("{", [:], [:], .malformed, "config.json:1:"),
      (#"{"backend": "lmdb"}"#, [:], [:], .invalidOption, "config.json:1:13: 'backend' cannot be \"lmdb\""),
      (#"{"environment": "dev"}"#, [:], [:], .invalidOption, "config.json:1:2: unknown key 'environment'"),
      ("{}", ["WEATHER_BACKND": "plist"], [:], .invalidOption, "WEATHER_BACKND: there is no such setting"),
      ("{}", ["WEATHER_CONFIG": "none.json"], [:], .invalidOption, "WEATHER_CONFIG: there is no file "),
      ("{}", ["WEATHER_CONFIG": "/"], [:], .ioFailed, "/: "),
      ("{}", [:], ["backend": "/tmp/libcachectl-x.so"], .invalidOption, "settings: 'backend' cannot be"),
      ("{}", [:], ["cache": "1"], .invalidOption, "settings: 'cache' is a section of the configuration"),
      ("{}", [:], ["": "1"], .invalidOption, "settings: "),
      ("{}", [:], ["backends.other.path": "x"], .invalidOption, "settings: unknown key 'backends.other.path'"),
      (#"{"backends": {"other": {}}}"#, [:], [:], .invalidOption, "config.json:1:15: unknown key 'backends.other'"),
      ("{}", [:], ["cache.maxBytes": "1"], .invalidOption, "settings: 'cache.maxBytes'"),
    ] as [(String, [String: String], [String: String], CacheError.Code, String)])
  func aMistakeIsAnErrorThatNamesNoCommand(
    text: String, environment: [String: String], settings: [String: String], code: CacheError.Code, message: String
  ) throws {
    let program = TestProgram()
    defer { program.remove() }
    try program.write(text, to: "home/.config/weather/config.json")
    let error = try #require(throws: CacheError.self) {
      try program.configuration(settings: settings, environment: environment)
    }
    #expect(error.code == code)
    #expect(error.message.contains(message), "\(error.message)")
    #expect(!error.hint.isEmpty)
    for part in ["cachectl ", "--", "CACHECTL"] { #expect(!(error.message + error.hint).contains(part)) }
  }

  @Test(arguments: ["", "Weather", "1st", "../x", "a b"]) func noProgramIsCalledThat(name: String) {
    let error = #expect(throws: CacheError.self) { try TestProgram().configuration(name) }
    #expect(error?.code == .invalidOption)
  }

  @Test func aFileHasAName() {
    let error = #expect(throws: CacheError.self) { try TestProgram().configuration(file: "") }
    #expect(error?.code == .invalidOption && error?.message == "the name of the file is empty")
  }

  @Test func aProgramHasAnEngineAndHasItOnce() {
    let none = #expect(throws: CacheError.self) { try TestProgram().configuration(engines: []) }
    #expect(none?.code == .unknownBackend)
    let twice = #expect(throws: CacheError.self) {
      try TestProgram().configuration(engines: [ServerPlugin(), ServerPlugin()])
    }
    #expect(twice?.message.contains("declared twice") == true)
  }

  /// The program's own keys are in the same file, and are overridden in the same way.
  @Test func aProgramHasSectionsOfItsOwn() throws {
    struct Display: ConfigurationSection {
      enum Unit: String, CaseIterable { case celsius, fahrenheit }
      static let path = "display"
      let unit: Unit
      let title: String?

      init(_ keys: inout SectionReader) {
        unit = keys.choice("unit", default: .celsius, help: "the unit of temperatures")
        title = keys.optionalText("title", help: "what is shown above")
      }
    }
    let program = TestProgram()
    defer { program.remove() }
    try program.write(#"{"display": {"unit": "fahrenheit"}}"#, to: "home/.config/weather/config.json")
    let file = try program.configuration(sections: [Display.self]).section(Display.self)
    #expect(file.unit == .fahrenheit && file.title == nil)
    let display = try program.configuration(
      sections: [Display.self], environment: ["WEATHER_DISPLAY_UNIT": "celsius", "WEATHER_DISPLAY_TITLE": "Bern"]
    ).section(Display.self)
    #expect(display.unit == .celsius && display.title == "Bern")
  }
}

/// A folder with the home of a user and a working folder, and programs that are started there.
struct TestProgram {
  let root = FileManager.default.temporaryDirectory.appending(path: "configured-\(UUID().uuidString)").path

  var workingFolder: String { root + "/work" }
  var userHome: String { root + "/home" }

  /// Removes what the programs have left behind.
  func remove() { Folders.remove(root) }

  /// Writes `text` to the file at `path`, seen from the root.
  func write(_ text: String, to path: String) throws {
    let file = URL(filePath: root + "/" + path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// The configuration that the program called `name` finds.
  func configuration(
    _ name: String = "weather", engines: [any StoragePlugin] = [SQLitePlugin(), PlistPlugin()],
    sections: [any ConfigurationSection.Type] = [], settings: [String: String] = [:], file: String? = nil,
    home: String? = nil, environment: [String: String] = [:]
  ) throws(CacheError) -> CacheConfiguration {
    try CacheConfiguration(
      name, engines: engines, sections: sections, settings: settings, file: file, home: home,
      environment: EnvironmentVariables(environment), workingDirectory: workingFolder, userHome: userHome)
  }
}

/// An engine on a server, which several programs share. It opens nothing.
struct ServerPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "server", version: "1", summary: "for tests", capabilities: [.shared],
    options: [
      EngineOption("url", .text, default: .text("tcp://127.0.0.1"), help: "where it is"),
      EngineOption("prefix", .storeName, default: .text("cache"), help: "what its keys begin with"),
      EngineOption("password", .text, help: "what it wants to hear", isSecret: true),
    ])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    throw CacheError(.unreachable, "there is no server")
  }
}
