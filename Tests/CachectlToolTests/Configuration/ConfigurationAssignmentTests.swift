import CachePresentation
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// Keys that are set outside of the file: by `--set` and by variables of the environment.
struct ConfigurationAssignmentTests {
  /// The value and the source of the key at `path`.
  private func setting(
    _ path: String, _ loader: ConfigurationLoader, _ settings: [String] = []
  ) throws -> (json: JSONValue, source: ConfigurationSource) {
    let configuration = try loader.load(ConfigurationFlags(settings: settings))
    let entry = try #require(configuration.entries.first { $0.key == path })
    return (entry.json, entry.source)
  }

  /// A value for each kind of key that is not a default.
  private func value(_ key: Setting) -> String {
    switch key.kind {
    case .option(.integer): "2"
    case .option(.size): "2MiB"
    case .option(.duration): "3s"
    case .option(.boolean): key.json == true ? "false" : "true"
    case .option(.choice(let names)): names[names.count - 1]
    case .option(.text), .option(.path), .option(.storeName), .secret: "other"
    case .backend: "plist"
    case .url, .proxy: "http://localhost:1/"
    case .paths: "/other"
    case .names: key.path == "cache.layers" ? "readonly" : "zstd"
    case .headers, .secrets: ""
    }
  }

  @Test func everyScalarKeyHasAVariableAndAFlag() throws {
    // A key of a client needs it.
    let certificate = ["CACHECTL_NETWORK_CLIENT_CERTIFICATE": "certificate"]
    for key in Fixtures.keys where key.kind.isSingle {
      let variable = "CACHECTL_" + (try #require(key.variable))
      let environment = certificate.merging([variable: value(key)]) { $1 }
      let byVariable = try setting(key.path, Fixtures.loader(environment: environment))
      #expect(byVariable.source == .variable(variable))
      if key.kind == .secret { continue }
      let byFlag = try setting(key.path, Fixtures.loader(environment: certificate), ["\(key.path)=\(value(key))"])
      #expect(byFlag.source == .flag("--set"))
      #expect(byFlag.json == byVariable.json, "\(key.path)")
      #expect(key.json != byFlag.json, "\(key.path)")
    }
  }

  @Test(arguments: [
    ("cache.timeToLive", "CACHECTL_CACHE_TIME_TO_LIVE"), ("environment", "CACHECTL_ENVIRONMENT"),
    ("queries.maxCount", "CACHECTL_QUERIES_MAX_COUNT"), ("backends.lmdb.mapSize", "CACHECTL_LMDB_MAP_SIZE"),
    ("origin.cities.baseURL", "CACHECTL_ORIGIN_CITIES_BASE_URL"), ("plugins.searchPath", "CACHECTL_PLUGIN_PATH"),
    ("origin.movies.apiKey", "CACHECTL_ORIGIN_MOVIES_API_KEY"), ("origin.cities.headers", nil),
    ("transforms.sealed.key", "CACHECTL_TRANSFORMS_SEALED_KEY"), ("transforms.sealed.keys", nil),
  ])
  func theVariableOfAKey(path: String, variable: String?) throws {
    #expect(Fixtures.keys.first { $0.path == path }?.variable.map { "CACHECTL_" + $0 } == variable)
  }

  @Test func flagBeforeVariableBeforeFile() throws {
    let files = [Fixtures.file: #"{"cache": {"timeToLive": "1m"}, "backend": "lmdb"}"#]
    let environment = ["CACHECTL_CACHE_TIME_TO_LIVE": "2m"]
    let loader = Fixtures.loader(files, environment: environment)
    #expect(try setting("cache.timeToLive", Fixtures.loader(files)).json == "1m")
    #expect(try setting("cache.timeToLive", loader).json == "2m")
    #expect(try setting("cache.timeToLive", loader, ["cache.timeToLive=3m", "cache.timeToLive=4m"]).json == "4m")
    let flags = ConfigurationFlags(backend: "memory", settings: ["backend=plist"])
    #expect(try loader.load(flags).backend == "memory", "The specific flag overrides the general one")
  }

  @Test func valuesOtherThanTextAreWrittenAsInTheFile() throws {
    let settings = [
      #"origin.movies.apiKey={"env": "KEY"}"#, #"origin.cities.headers={"X": "y", "Z": {"env": "KEY"}}"#,
    ]
    let configuration = try Fixtures.loader(environment: ["KEY": "hush"]).load(ConfigurationFlags(settings: settings))
    #expect(try configuration.movies.apiKey?.reveal() == "hush")
    #expect(configuration.cities.transport.headers.map(\.name) == ["X", "Z"])
    let found = Fixtures.loader().problems(
      ConfigurationFlags(settings: ["origin.movies.apiKey=hush", #"origin.movies.apiKey="hush""#]))
    #expect(found.map(\.code) == [.malformed, .wrongType])
    #expect(found.allSatisfy { !$0.description.contains("hush") && $0.isOfCommandLine })
  }

  @Test func aListIsWrittenAsInTheFileOrWithItsSeparators() throws {
    for text in [#"cache.transforms=["zstd", "sealed"]"#, "cache.transforms=zstd,sealed"] {
      #expect(try setting("cache.transforms", Fixtures.loader(), [text]).json == ["zstd", "sealed"])
    }
    #expect(try setting("cache.transforms", Fixtures.loader(), ["cache.transforms=[]"]).json == .array([]))
    #expect(
      try setting("plugins.searchPath", Fixtures.loader(), [#"plugins.searchPath=["/a", "/b"]"#]).json == ["/a", "/b"])
    let variable = Fixtures.loader(environment: ["CACHECTL_PLUGIN_PATH": "/a:[b]"])
    #expect(try setting("plugins.searchPath", variable).json == ["/a", "/home/ada/.cache/cachectl/[b]"])
    let found = Fixtures.loader().problems(ConfigurationFlags(settings: [#"cache.transforms=["zstd""#]))
    #expect(found.map(\.code) == [.malformed])
  }

  @Test(arguments: [
    ("cache.timeToLiv=1m", "--set: unknown key 'cache.timeToLiv'", "'cache.timeToLive'"),
    ("backends.tiered.loca=lmdb", "--set: unknown key 'backends.tiered.loca'", "'backends.tiered.local'"),
    ("timeToLive=1m", "--set: unknown key 'timeToLive'", "'cache.timeToLive'"),
    (#"cache={"timeToLive": "1h"}"#, "--set: 'cache' is a section of the configuration", "one by one: timeToLive, "),
    ("origin=sample", "--set: 'origin' is a section", "one by one: cities, movies"),
    ("backends={}", "--set: 'backends' is a section", "one by one: sqlite, "),
    ("origin.tides.harbour=Bergen", "--set: unknown key 'origin.tides.harbour'", "no resource of this program"),
    ("nope=1", "--set: unknown key 'nope'", "known here: backend, environment"),
    (".backend=lmdb", "--set: unknown key 'backend'", "'backend'"),
    ("cache.timeToLive", "--set: \"cache.timeToLive\" names no key and value", "write KEY=VALUE"),
    ("=1", "names no key and value", "write KEY=VALUE"),
    ("cache.timeToLive=soon", "--set: 'cache.timeToLive' is not a duration: \"soon\"", "give a duration"),
    ("queries.maxCount=0", "--set: 'queries.maxCount' is out of range: \"0\"", "from 1 to 1000"),
    ("backend=lmbd", "--set: there is no backend 'lmbd'", "the nearest is lmdb"),
  ])
  func aWrongFlag(text: String, message: String, hint: String) throws {
    let found = Fixtures.loader().problems(ConfigurationFlags(settings: [text]))
    let problem = try #require(found.first)
    #expect(found.count == 1 && problem.isOfCommandLine)
    #expect(problem.message.contains(message), "\(problem.message)")
    #expect(problem.hint.contains(hint), "\(problem.hint)")
  }

  @Test(arguments: [
    ("CACHECTL_CACHE_TIME_TO_LIV", "the nearest known variable is CACHECTL_CACHE_TIME_TO_LIVE"),
    ("CACHECTL_ORIGN_URL", "the nearest known variable is CACHECTL_ORIGIN_CITIES_BASE_URL"),
    ("CACHECTL_ORIGN_CITIES_KND", "the nearest known variable is CACHECTL_ORIGIN_CITIES_KIND"),
    ("CACHECTL_CAHCE_MAX_ENTRIES", "the nearest known variable is CACHECTL_CACHE_MAX_ENTRIES"),
    ("CACHECTL_LMBD_MAP_SIZE", "the nearest known variable is CACHECTL_LMDB_MAP_SIZE"),
    ("CACHECTL_BACKND", "the nearest known variable is CACHECTL_BACKEND"),
    ("CACHECTL_HOEM", "the nearest known variable is CACHECTL_HOME"),
    ("CACHECTL_PLUGINS_PATH", "the nearest known variable is CACHECTL_PLUGIN_PATH"),
  ])
  func anUnknownVariable(name: String, hint: String) throws {
    let found = Fixtures.loader(environment: [name: "1m"]).problems()
    #expect(found.map(\.hint) == [hint])
  }

  /// It may be for an engine in a library, or for another program.
  @Test(arguments: [
    "CACHECTL_X", "CACHECTL_REDIS_URL", "CACHECTL_KILLS", "CACHECTL_BINARY", "CACHECTL_DAMAGE_SEED",
    "CACHECTL_QUERIES_FOO", "CACHECTL_CACHE_SERVICE_HOST",
  ])
  func aVariableSimilarToNoneIsIgnored(name: String) {
    #expect(Fixtures.loader(environment: [name: "1"]).problems() == [])
  }

  @Test func theOptionsOfALibraryCanBeSet() throws {
    let loader = Fixtures.loader(engines: Fixtures.engines, libraries: Fixtures.libraries([Fixtures.serverLibrary]))
    let flags = ConfigurationFlags(backend: "server", settings: ["backends.server.maxRetryCount=2"])
    #expect(try loader.load(flags).options(of: "server")["maxRetryCount"] == .integer(2))
    #expect(try loader.load(ConfigurationFlags(settings: flags.settings)).backend == "sqlite")
    let wrong = ConfigurationFlags(backend: "server", settings: ["backends.server.retries=2"])
    #expect(loader.problems(wrong).map(\.code) == [.unknownKey])
  }

  @Test func theSchemaOfAFileIsNotASetting() throws {
    let text = #"{"$schema": "https://example.org/cachectl.schema.json", "backend": "lmdb"}"#
    let configuration = try Fixtures.loader([Fixtures.file: text]).load()
    #expect(configuration.backend == "lmdb" && configuration.document["$schema"] == nil)
  }

  @Test func withoutAHomeFolderNothingIsStored() throws {
    func loader(_ environment: EnvironmentVariables) -> ConfigurationLoader {
      ConfigurationLoader(
        engines: Fixtures.engines, sections: Fixtures.sections, environment: environment, workingDirectory: "/project",
        userHome: "/", libraries: EngineLibraries(), readFile: { _ in nil })
    }
    for environment in [[:], ["CACHECTL_HOME": ""], ["XDG_CACHE_HOME": ""], ["XDG_CACHE_HOME": "relative"]]
      as [[String: String]]
    {
      let error = #expect(throws: ConfigurationError.self) { try loader(EnvironmentVariables(environment)).load() }
      #expect(error?.code == .missing && error?.hint.contains("CACHECTL_HOME") == true)
    }
    #expect(try loader(["CACHECTL_HOME": "/stores"]).load().home == "/stores")
    #expect(try loader(["XDG_CACHE_HOME": "/cache"]).load().home == "/cache/cachectl")
    #expect(loader([:]).file().path == "/.config/cachectl/config.json")
    let empty = Fixtures.loader().problems(ConfigurationFlags(home: ""))
    #expect(empty.map(\.message) == ["--home is empty"] && empty.allSatisfy(\.isOfCommandLine))
  }
}
