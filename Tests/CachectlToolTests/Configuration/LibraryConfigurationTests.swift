import CacheBase
import EngineAPI
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

/// The configuration of engines that are libraries: which are loaded, and which facts about the others are known.
struct LibraryConfigurationTests {
  private static let folder = "/home/ada/.local/lib/cachectl/plugins"

  /// A loader for which only the built-in engines are known at first.
  private func loader(
    _ text: String = "{}", environment: [String: String] = [:], libraries: [String] = [Fixtures.serverLibrary]
  ) -> ConfigurationLoader {
    Fixtures.loader(
      [Fixtures.file: text], environment: environment, engines: Fixtures.engines,
      libraries: Fixtures.libraries(libraries))
  }

  @Test func nothingIsLoadedForABuiltInEngine() throws {
    let libraries = Fixtures.libraries([Fixtures.serverLibrary]) { path throws(CacheError) in
      throw CacheError(.failed, "\(path) was loaded")
    }
    let text = #"{"backend": "lmdb", "backends": {"server": {"anything": [1, {}]}, "away": {"url": "x"}}}"#
    let loader = Fixtures.loader(
      [Fixtures.file: text], environment: ["CACHECTL_SERVER_ANYTHING": "x"], engines: Fixtures.engines,
      libraries: libraries)
    #expect(loader.problems().isEmpty)
    #expect(try loader.load().loadedEngines.isEmpty)
    #expect(loader.problems(ConfigurationFlags(backend: "server")).map(\.code) == [.invalidPlugin])
  }

  @Test(
    arguments: [
      (#"{"backend": "server"}"#, [:], nil), ("{}", ["CACHECTL_BACKEND": "server"], nil),
      (#"{"backend": "lmdb"}"#, [:], "server"), (#"{"backend": "nosuch"}"#, [:], "server"),
      (#"{"backend": "/else/libcachectl-server.so"}"#, [:], nil),
      (#"{"backend": "else/libcachectl-server.so"}"#, [:], nil),
      ("{}", [:], "./else/libcachectl-server.so"),
    ] as [(String, [String: String], String?)])
  func anEngineIsNamed(text: String, environment: [String: String], flag: String?) throws {
    let loader = loader(
      text, environment: environment.merging(["CACHECTL_HOME": "/home/ada/cache"]) { $1 },
      libraries: [
        Fixtures.serverLibrary, "/else/libcachectl-server.so", "/home/ada/cache/else/libcachectl-server.so",
        "/project/else/libcachectl-server.so",
      ])
    let configuration = try loader.load(ConfigurationFlags(backend: flag))
    #expect(configuration.backend == "server")
    let path = try #require(configuration.loadedEngines.first?.path)
    let shown = configuration.entries.first { $0.key == "backend" }?.text
    #expect(shown == "server" || shown == path, "The text names the same library")
    let isPath = text.contains("else") || flag?.contains("else") == true
    #expect(path.hasSuffix("/else/libcachectl-server.so") == isPath)
    #expect(path.hasPrefix("/project") == (flag?.contains("else") ?? false))
  }

  @Test func theOptionsOfANamedEngineAreChecked() throws {
    let text = #"{"backend": "server", "backends": {"server": {"ulr": "x", "maxRetryCount": 10}}}"#
    let found = loader(text, environment: ["CACHECTL_SERVER_USE_TSL": "true"]).problems()
    #expect(found.map(\.code) == [.unknownKey, .outOfRange, .unknownKey])
    #expect(found[0].message == "\(Fixtures.file):1:47: unknown key 'backends.server.ulr'")
    #expect(found[0].hint == "the nearest known key is 'backends.server.url'")
    #expect(found[1].message.contains("'backends.server.maxRetryCount' is out of range"))
    #expect(found[2].hint.contains("CACHECTL_SERVER_USE_TLS"))
  }

  @Test func theOptionsOfANamedEngineCount() throws {
    let text = #"{"backend": "server", "backends": {"server": {"maxRetryCount": 2, "password": {"env": "SECRET"}}}}"#
    let environment = ["SECRET": "hush", "CACHECTL_SERVER_URL": "redis://other:1"]
    let configuration = try loader(text, environment: environment).load()
    #expect(
      try configuration.options(of: "server") == [
        "url": .text("redis://other:1"), "password": .text("hush"), "maxRetryCount": .integer(2),
        "useTLS": .boolean(false),
      ])
    #expect(!"\(configuration.entries)".contains("hush"))
    let again = try loader(JSONText.text(configuration.document), environment: environment).load()
    #expect(again.entries.map(\.json) == configuration.entries.map(\.json))
  }

  /// Without it the server would refuse the client, and say nothing of the reason.
  @Test(arguments: [nil, ""]) func aSecretOfAnEngineMustBeSet(value: String?) throws {
    let text = #"{"backend": "server", "backends": {"server": {"password": {"env": "SECRET"}}}}"#
    let environment = value.map { ["SECRET": $0] } ?? [:]
    let byFile = try loader(text, environment: environment).load()
    let byFlag = try loader(environment: environment).load(
      ConfigurationFlags(backend: "server", settings: [#"backends.server.password={"env": "SECRET"}"#]))
    for (configuration, source) in [(byFile, "\(Fixtures.file):1:59"), (byFlag, "--set")] {
      let error = #expect(throws: CacheError.self) { try configuration.options(of: "server") }
      #expect(error?.code == .invalidOption)
      #expect(
        error?.message
          == "\(source): 'backends.server.password' names the environment variable SECRET, which is not set")
      #expect(error?.hint == "set SECRET")
    }
  }

  @Test func aCommandNamesMore() throws {
    let references = [EngineReference("lmdb", flag: "--from"), EngineReference("server", flag: "--to")]
    let configuration = try loader().load(naming: references)
    #expect(configuration.backend == "sqlite")
    #expect(configuration.loadedEngines.map(\.path) == [Fixtures.serverLibrary])
    let error = #expect(throws: ConfigurationError.self) {
      try loader().load(naming: [EngineReference("sever", flag: "--to")])
    }
    #expect(error?.message == "--to: there is no backend 'sever'")
    #expect(error?.hint.contains("memory, redis, server; the nearest is server") == true)
    #expect(error?.isOfCommandLine == true)
    let tiered = #expect(throws: ConfigurationError.self) {
      try loader().load(naming: [EngineReference("tiered", flag: "--to")])
    }
    #expect(tiered?.hint.hasPrefix("it is made of two engines: name one of these") == true, "\(tiered?.hint ?? "")")
  }

  @Test func oneNameIsOneLibrary() throws {
    let other = "/else/libcachectl-server.so"
    let loader = loader(#"{"backend": "server"}"#, libraries: [Fixtures.serverLibrary, other])
    #expect(try loader.load(naming: [EngineReference(Fixtures.serverLibrary, flag: "--to")]).loadedEngines.count == 1)
    let error = #expect(throws: ConfigurationError.self) {
      try loader.load(naming: [EngineReference(other, flag: "--to")])
    }
    #expect(error?.code == .invalidPlugin)
    #expect(error?.message.contains(other) == true && error?.message.contains(Fixtures.serverLibrary) == true)
  }

  @Test(arguments: [
    (CacheError.Code.permissionDenied, ConfigurationError.Code.permissionDenied),
    (CacheError.Code.invalidPlugin, .invalidPlugin), (.failed, .invalidPlugin),
  ])
  func defectsOfALibraryAreMistakesOfTheConfiguration(
    thrown: CacheError.Code, reported: ConfigurationError.Code
  ) throws {
    let libraries = Fixtures.libraries([Fixtures.serverLibrary]) { _ throws(CacheError) in
      throw CacheError(thrown, "the library is wrong", hint: "mend it")
    }
    let loader = Fixtures.loader(
      [Fixtures.file: #"{"backend": "server"}"#], engines: Fixtures.engines, libraries: libraries)
    let found = loader.problems()
    #expect(found.map(\.code) == [reported])
    #expect(found.map(\.description) == ["\(Fixtures.file):1:13: the library is wrong: mend it"])
    #expect(found.allSatisfy { !$0.isOfCommandLine })
  }

  @Test func theSearchPathIsSet() throws {
    let environment = ["CACHECTL_PLUGIN_PATH": "~/x:y:/z", "CACHECTL_HOME": "/home/ada/cache"]
    for folder in ["/home/ada/x", "/home/ada/cache/y", "/z"] {
      let path = folder + "/libcachectl-server.so"
      let loader = loader(environment: environment, libraries: [path])
      #expect(try loader.load(ConfigurationFlags(backend: "server")).loadedEngines.map(\.path) == [path])
    }
    let wrong = #"{"backend": "server", "plugins": {"searchPath": "x"}}"#
    #expect(loader(wrong).problems().map(\.key) == ["plugins.searchPath"], "Nothing is loaded from anywhere else")
  }
}

/// Which library a name or a path leads to.
struct EngineLibrariesTests {
  private static let searchPath = ["/a", "/b", "/missing"]
  private static let libraries = Fixtures.libraries([
    "/a/libcachectl-one.so", "/b/libcachectl-two.so", "/a/libcachectl-both.so", "/b/libcachectl-both.so",
    "/b/libcachectl-lmdb.so", "/a/libcachectl-.so", "/a/libcachectl-Odd.so", "/a/libcachectl-one.so.1", "/a/one.so",
    "/a/libcachectl-plugin.so",
  ])

  private func library(_ reference: String, searchPath: [String] = searchPath) throws -> EngineLibrary {
    try Self.libraries.library(reference, builtIn: ["sqlite", "lmdb"], searchPath: searchPath)
  }

  @Test(arguments: [
    ("one", "/a/libcachectl-one.so"), ("two", "/b/libcachectl-two.so"),
    ("/a/libcachectl-both.so", "/a/libcachectl-both.so"), ("/b/libcachectl-both.so", "/b/libcachectl-both.so"),
  ])
  func isFound(reference: String, path: String) throws {
    let library = try library(reference)
    #expect(library.path == path)
    #expect(library.name == EngineName.name(of: path))
  }

  @Test func aFolderThatIsNamedTwiceIsOne() throws {
    #expect(try library("one", searchPath: ["/a", "/a", "/a/"]).path == "/a/libcachectl-one.so")
  }

  @Test(arguments: [
    ("three", "unknownBackend", ["'three'"]), ("both", "invalidPlugin", ["/a/libcachectl-both.so", "/b/libcachectl"]),
    ("/c/libcachectl-one.so", "invalidPlugin", ["there is no library /c/libcachectl-one.so"]),
    ("/a/one.so", "invalidPlugin", ["/a/one.so", "libcachectl-NAME.so"]),
    ("/a/libcachectl-Odd.so", "invalidPlugin", ["not called like"]),
    ("/a/libcachectl-plugin.so", "invalidPlugin", ["not called like"]),
    ("/b/libcachectl-lmdb.so", "invalidPlugin", ["like the built-in engine lmdb"]),
  ])
  func isNotFound(reference: String, code: String, words: [String]) throws {
    let error = #expect(throws: CacheError.self) { _ = try library(reference) }
    #expect(error?.code.rawValue == code)
    for word in words { #expect(error?.description.contains(word) == true, "\(error?.description ?? "")") }
  }

  @Test func allLibrariesInTheFoldersAreFound() {
    let found = Self.libraries.all(in: Self.searchPath)
    #expect(found.map(\.name) == ["both", "one", "both", "lmdb", "two"])
    let loaded = LoadedEngine(
      plugin: Fixtures.NoPlugin(declaration: Fixtures.engine("one", [])), path: "/a/libcachectl-one.so")
    let others = FoundLibraries(
      Self.libraries, searchPath: Self.searchPath, catalogue: PluginCatalogue.standard.adding([loaded]))
    #expect(others.usable.map(\.path) == ["/a/libcachectl-both.so", "/b/libcachectl-both.so", "/b/libcachectl-two.so"])
    #expect(others.ambiguous == ["both"])
    #expect(others.unusable.map(\.name) == ["lmdb"])
  }

  @Test(arguments: [
    ("lmbd", "lmdb", true), ("sqlite3", "sqlite", true), ("sqllit", "sqlite", true), ("redis", "plist", false),
    ("list", "plist", true), ("folder", "memory", false), ("db", "lmdb", false), ("lmdb2", "lmdb", true),
  ])
  func aSimilarNameIsAMistake(name: String, other: String, isNear: Bool) {
    #expect(Spelling.isNear(name, other) == isNear)
  }
}
