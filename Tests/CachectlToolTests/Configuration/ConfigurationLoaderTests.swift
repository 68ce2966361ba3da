import CacheCore
import EngineAPI
import Foundation
import HTTPCaching
import Synchronization
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

struct ConfigurationLoaderTests {
  @Test func defaultsHoldWithoutSettings() throws {
    let configuration = try Fixtures.loader().load()
    #expect(configuration.file == nil)
    #expect(configuration.home == "/home/ada/.cache/cachectl")
    #expect(configuration.homeSource == .default)
    #expect(configuration.backend == "sqlite")
    #expect(configuration.environment == .dev)
    #expect(try configuration.options(of: "sqlite")["path"] == .text("/home/ada/.cache/cachectl/cache.sqlite"))
    #expect(try configuration.options(of: "sqlite")["busyTimeout"] == .integer(5_000))
    #expect(try configuration.options(of: "lmdb")["mapSize"] == .integer(67_108_864))
    #expect(try configuration.options(of: "memory").isEmpty)
    #expect(configuration.pluginSearchPath == ["/home/ada/.local/lib/cachectl/plugins"])
    #expect(configuration.section(MovieQueriesSettings.self).maxCount == 10)
    #expect(configuration.entries.allSatisfy { $0.source == .default })
  }

  @Test func defaultsOfTheCacheAndTheOrigins() throws {
    let configuration = try Fixtures.loader().load()
    let cache = configuration.cache
    let freshness = FreshnessPolicy(
      timeToLive: .seconds(3_600), staleIfError: .seconds(604_800), staleWhileRevalidate: .zero)
    #expect(cache.freshness == freshness)
    #expect(cache.limits == StoreLimits(maxEntries: 100_000, maxBytes: 1_073_741_824, eviction: .lru))
    #expect(cache.maxEntryBytes == 16 << 20 && !cache.isShared && cache.transforms.isEmpty && cache.layers.isEmpty)
    var transport = Configuration.Transport(
      timeout: .seconds(30), maxResponseBytes: 16_777_216, maxConcurrentRequests: 4, headers: [],
      network: Configuration.Network(), section: "origin.cities")
    let cities = configuration.cities
    #expect(cities.kind == .sample && cities.baseURL == nil && cities.transport == transport)
    transport.section = "origin.movies"
    let movies = configuration.movies
    #expect(movies.kind == .sample && movies.baseURL == nil && movies.imagesBaseURL == nil && movies.apiKey == nil)
    #expect(movies.transport == transport)
  }

  /// A section is read once, and then handed out.
  @Test func eachSectionIsReadOnce() throws {
    struct Counting: ConfigurationSection {
      static let path = "counting"
      static let count = Atomic(0)
      let isHigh: Bool

      init(_ keys: inout SectionReader) {
        isHigh = keys.boolean("isHigh", default: true, help: "whether it is high")
        Self.count.add(1, ordering: .relaxed)
      }
    }
    let loader = ConfigurationLoader(
      engines: Fixtures.engines, sections: Fixtures.sections + [Counting.self],
      environment: ["CACHECTL_COUNTING_IS_HIGH": "false"], workingDirectory: "/project", userHome: "/home/ada",
      readFile: { _ in nil })
    let configuration = try loader.load()
    for _ in 0..<3 { #expect(!configuration.section(Counting.self).isHigh) }
    #expect(Counting.count.load(ordering: .relaxed) == 1)
  }

  /// A start declares the engine that it uses, and no others and no section that the configuration does not mention.
  /// The sections about others are still checked.
  @Test(
    arguments: [
      ("{}", true, nil), (#"{"backend": "second", "cache": {"maxEntries": 7}}"#, true, nil),
      (#"{"backends": {"first": {"url": "http://first/"}}}"#, true, nil),
      (#"{"backends": {"second": {"url": "http://second/"}}}"#, false, nil),
      (#"{"backends": {"second": {"uri": "http://second/"}}}"#, false, "unknown key 'backends.second.uri'"),
      (#"{"backends.first": {}}"#, false, #"unknown key '"backends.first"'"#),
      (#"{"": {"backend": "second"}}"#, false, #"unknown key '""'"#),
      (#"{"spare": {"isHigh": 1}}"#, false, "'spare.isHigh' is a number, not a boolean"),
      (#"{"spare": {"isLow": true}}"#, false, "unknown key 'spare.isLow'"),
    ] as [(String, Bool, String?)])
  func aStartDeclaresOnlyTheUsedEngine(file: String, isEnough: Bool, mistake: String?) throws {
    let declared = SpareSettings.Counts()
    let found = SpareSettings.$counts.withValue(declared) { () -> Result<Configuration, ConfigurationError> in
      let loader = ConfigurationLoader(
        engines: ["first", "second"].map { name in
          DeclaredEngine(name, declared.engine(Fixtures.engine(name, Fixtures.server.options)))
        },
        sections: [SpareSettings.self], policies: EvictionPolicy.standard, environment: [:],
        workingDirectory: "/project", userHome: "/home/ada", libraries: EngineLibraries(),
        readFile: { $0 == Fixtures.file ? Array(file.utf8) : nil })
      return Result { () throws(ConfigurationError) in try loader.load() }
    }
    let counts = (declared.engines.load(ordering: .relaxed), declared.sections.load(ordering: .relaxed))
    #expect(isEnough ? counts == (1, 0) : counts.0 > 1 && counts.1 == 1, "\(counts)")
    switch found {
    case .success(let configuration):
      #expect(mistake == nil && configuration.section(SpareSettings.self).isHigh)
      #expect(configuration.entries.contains { $0.key == "spare.isHigh" })
      #expect(try configuration.options(of: "second")["maxRetryCount"] == .integer(3))
    case .failure(let error): #expect(mistake.map { error.message.hasSuffix($0) } == true, "\(error.message)")
    }
  }

  @Test func enginesAreListedByTheNamesThatTheyDeclare() {
    let catalogue = Cachectl(engines: .standard + [Fixtures.NoPlugin(declaration: Fixtures.server)]).catalogue
    #expect(catalogue.names == catalogue.declarations.map(\.name) && catalogue.names.last == "server")
  }

  /// A section that no command of the sample needs, and how often it and the engines are declared.
  struct SpareSettings: ConfigurationSection {
    final class Counts: Sendable {
      let engines = Atomic(0)
      let sections = Atomic(0)

      func engine(_ declaration: EngineDeclaration) -> EngineDeclaration {
        engines.add(1, ordering: .relaxed)
        return declaration
      }
    }

    @TaskLocal static var counts: Counts?
    static let path = "spare"
    let isHigh: Bool

    init(_ keys: inout SectionReader) {
      isHigh = keys.boolean("isHigh", default: true, help: "whether it is high")
      Self.counts?.sections.add(1, ordering: .relaxed)
    }
  }

  @Test(
    arguments: [
      (nil, nil, nil, "sqlite", ConfigurationSource.default),
      ("plist", nil, nil, "plist", .file(Fixtures.file, SourcePlace(line: 2, column: 14))),
      ("plist", "lmdb", nil, "lmdb", .variable("CACHECTL_BACKEND")),
      ("plist", "", nil, "plist", .file(Fixtures.file, SourcePlace(line: 2, column: 14))),
      ("plist", "lmdb", "memory", "memory", .flag("--backend")), (nil, nil, "memory", "memory", .flag("--backend")),
    ] as [(String?, String?, String?, String, ConfigurationSource)])
  func flagBeforeVariableBeforeFileBeforeDefault(
    file: String?, variable: String?, flag: String?, backend: String, source: ConfigurationSource
  ) throws {
    let files = file.map { [Fixtures.file: "{\n  \"backend\": \"\($0)\"\n}"] } ?? [:]
    let loader = Fixtures.loader(files, environment: variable.map { ["CACHECTL_BACKEND": $0] } ?? [:])
    let configuration = try loader.load(ConfigurationFlags(backend: flag))
    #expect(configuration.backend == backend)
    #expect(configuration.entries.first { $0.key == "backend" }?.source == source)
  }

  @Test(arguments: [
    ("CACHECTL_LMDB_MAP_SIZE", "1GiB", "lmdb", "mapSize", OptionValue.integer(1 << 30)),
    ("CACHECTL_SQLITE_BUSY_TIMEOUT", "250ms", "sqlite", "busyTimeout", .integer(250)),
    ("CACHECTL_SQLITE_DURABILITY", "full", "sqlite", "durability", .text("full")),
    ("CACHECTL_SQLITE_PATH", "other/x.db", "sqlite", "path", .text("/home/ada/.cache/cachectl/other/x.db")),
    ("CACHECTL_PLIST_PATH", "~/p", "plist", "path", .text("/home/ada/p")),
    ("CACHECTL_PLIST_PATH", "/p", "plist", "path", .text("/p")),
    ("CACHECTL_SERVER_MAX_RETRY_COUNT", "9", "server", "maxRetryCount", .integer(9)),
    ("CACHECTL_SERVER_USE_TLS", "true", "server", "useTLS", .boolean(true)),
    ("CACHECTL_SERVER_PASSWORD", "open sesame", "server", "password", .text("open sesame")),
  ])
  func everyOptionHasAVariable(variable: String, text: String, engine: String, option: String, value: OptionValue)
    throws
  {
    let configuration = try Fixtures.loader(environment: [variable: text]).load()
    #expect(try configuration.options(of: engine)[option] == value)
    let entry = configuration.entries.first { $0.key == "backends.\(engine).\(option)" }
    #expect(entry?.source == .variable(variable))
  }

  @Test(
    "A policy of eviction can be given by its long name",
    arguments: [
      ("least-recently-used", "lru"), ("least-frequently-used", "lfu"), ("least-recently-stored", "fifo"),
      ("size-adjusted", "size"), ("s3-fifo", "s3-fifo"),
    ])
  func longNamesOfPolicies(name: String, short: String) throws {
    let configuration = try Fixtures.loader(environment: ["CACHECTL_CACHE_EVICTION": name]).load()
    #expect(configuration.cache.limits.eviction.name == short)
  }

  @Test(
    arguments: [
      (nil, [:], "/home/ada/.cache/cachectl", ConfigurationSource.default),
      (nil, ["XDG_CACHE_HOME": "/xdg"], "/xdg/cachectl", .variable("XDG_CACHE_HOME")),
      (nil, ["XDG_CACHE_HOME": "relative"], "/home/ada/.cache/cachectl", .default),
      (nil, ["XDG_CACHE_HOME": "/xdg", "CACHECTL_HOME": "~/h"], "/home/ada/h", .variable("CACHECTL_HOME")),
      ("here", ["CACHECTL_HOME": "/h"], "/project/here", .flag("--home")),
      ("./a/../b", [:], "/project/a/../b", .flag("--home")), (".", [:], "/project", .flag("--home")),
      ("~", [:], "/home/ada", .flag("--home")),
      ("././/a", [:], "/project/a", .flag("--home")), ("./", [:], "/project", .flag("--home")),
      ("~ada", [:], "/project/~ada", .flag("--home")),
    ] as [(String?, [String: String], String, ConfigurationSource)])
  func theHome(flag: String?, environment: [String: String], home: String, source: ConfigurationSource) throws {
    let configuration = try Fixtures.loader(environment: environment).load(ConfigurationFlags(home: flag))
    #expect(configuration.home == home)
    #expect(configuration.homeSource == source)
    #expect(try configuration.options(of: "plist")["path"] == .text("\(home)/plist"))
  }

  @Test(
    arguments: [
      (nil, [:], Fixtures.file), (nil, ["XDG_CONFIG_HOME": "/xdg"], "/xdg/cachectl/config.json"),
      (nil, ["CACHECTL_CONFIG": "x.json"], "/project/x.json"),
      ("~/y.json", ["CACHECTL_CONFIG": "x.json"], "/home/ada/y.json"),
    ] as [(String?, [String: String], String)])
  func theFileLookedFor(flag: String?, environment: [String: String], path: String) throws {
    let flags = ConfigurationFlags(file: flag)
    #expect(Fixtures.loader(environment: environment).file(flags).path == path)
    let paths = [path, Fixtures.file, "/project/cachectl.json", "/project/x.json"]
    let files = Dictionary(paths.map { ($0, "{}") }) { first, _ in first }
    #expect(try Fixtures.loader(files, environment: environment).load(flags).file == path)
    if flag == nil, environment["CACHECTL_CONFIG"] == nil {
      let others = files.filter { $0.key != path }
      #expect(try Fixtures.loader(others, environment: environment).load(flags).file == nil)
    }
  }

  @Test func aListInAVariableIsSeparatedByColons() throws {
    let configuration = try Fixtures.loader(environment: ["CACHECTL_PLUGIN_PATH": "/a::b:~/c"]).load()
    #expect(configuration.pluginSearchPath == ["/a", "/home/ada/.cache/cachectl/b", "/home/ada/c"])
  }

  @Test(arguments: [
    ("dev", "sample", "sample", ConfigurationSource.default), ("alpha", "propublica", "tmdb", .derived("environment")),
    ("real", "propublica", "tmdb", .derived("environment")),
  ])
  func theEnvironmentDecidesTheOrigins(
    environment: String, cities: String, movies: String, source: ConfigurationSource
  ) throws {
    let file = "{\"environment\": \"\(environment)\"}"
    let configuration = try Fixtures.loader([Fixtures.file: file]).load()
    #expect(configuration.cities.kind.rawValue == cities)
    #expect(configuration.movies.kind.rawValue == movies)
    #expect(configuration.entries.first { $0.key == "origin.cities.kind" }?.source == source)
    #expect((configuration.cities.baseURL == nil) == (cities == "sample"))
  }

  @Test func onlyAStoreOnAServerHasAnAddress() throws {
    let loader = Fixtures.loader()
    #expect(try loader.load(ConfigurationFlags(backend: "server")).storeAddress == "redis://127.0.0.1:6379")
    #expect(try loader.load().storeAddress == nil)
  }

  private static let wrongURL = CacheError(.invalidOption, "option 'url': it is wrong", hint: "mend it")

  @Test(
    arguments: [
      (wrongURL, "x", nil, nil, "CACHECTL_SERVER_URL: option 'url': it is wrong"),
      (wrongURL, nil, "x", nil, "\(Fixtures.file):1:33: option 'url': it is wrong"),
      (wrongURL, nil, nil, "x", "--set: option 'url': it is wrong"),
      (wrongURL, nil, nil, nil, "option 'url': it is wrong"),
      (CacheError(.invalidOption, "it is wrong"), "x", nil, nil, "it is wrong"),
      (CacheError(.busy, "option 'url'"), "x", nil, nil, "option 'url'"),
    ] as [(CacheError, String?, String?, String?, String)])
  func anErrorAboutAnOptionNamesTheSourceOfItsValue(
    error: CacheError, variable: String?, file: String?, flag: String?, message: String
  ) throws {
    let files = file.map { [Fixtures.file: #"{"backends": {"server": {"url": "\#($0)"}}}"#] } ?? [:]
    let environment = variable.map { ["CACHECTL_SERVER_URL": $0] } ?? [:]
    let settings = flag.map { ["backends.server.url=\($0)"] } ?? []
    let configuration = try Fixtures.loader(files, environment: environment)
      .load(ConfigurationFlags(backend: "server", settings: settings))
    let named = configuration.namingSource(of: error, backend: "server")
    #expect(named.message == message && named.hint == error.hint && named.code == error.code)
  }

  @Test func anExplicitOriginOverridesTheEnvironment() throws {
    let file = #"""
      {"environment": "real", "origin": {"cities": {"kind": "sample"},
       "movies": {"baseURL": "http://localhost:8080", "apiKey": {"env": "KEY"}, "timeout": "1s500ms",
                  "headers": {"Accept": "a", "Authorization": {"env": "TOKEN"}}}}}
      """#
    let loader = Fixtures.loader([Fixtures.file: file], environment: ["KEY": "hush", "TOKEN": ""])
    let configuration = try loader.load()
    #expect(configuration.cities.kind == .sample)
    #expect(configuration.movies.kind == .tmdb)
    #expect(configuration.movies.baseURL == "http://localhost:8080")
    #expect(configuration.movies.imagesBaseURL == "https://image.tmdb.org/")
    #expect(configuration.movies.transport.timeout == .milliseconds(1_500))
    #expect(try configuration.movies.apiKey?.reveal() == "hush")
    let headers = [
      HeaderSetting(name: "Accept", value: .text("a")),
      HeaderSetting(name: "Authorization", value: .secret(Secret(variable: "TOKEN", value: nil))),
    ]
    #expect(configuration.movies.transport.headers == headers)
  }
}

struct ConfigurationHelperTests {
  @Test(arguments: [
    ("path", "PATH"), ("mapSize", "MAP_SIZE"), ("busyTimeout", "BUSY_TIMEOUT"), ("useTLS", "USE_TLS"),
    ("maxRetryCount", "MAX_RETRY_COUNT"), ("utf8", "UTF8"),
  ])
  func theNamesOfVariables(option: String, variable: String) { #expect(Setting.upperSnakeCase(option) == variable) }

  @Test func filesAreReadAbsentOrUnreadable() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "configuration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
    let file = folder.appending(path: "file")
    try Data(bytes).write(to: file)
    #expect(try ConfigurationFiles.contents(of: file.path()) == bytes)
    #expect(try ConfigurationFiles.contents(of: folder.appending(path: "none").path()) == nil)
    #expect(try ConfigurationFiles.contents(of: file.path() + "/below") == nil)
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationFiles.contents(of: folder.path()) }
    #expect(error?.code == .unreadableFile)
    #expect(error?.message.hasPrefix(folder.path()) == true)
  }
}
