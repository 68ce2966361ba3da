import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The configuration of engines that are libraries: which are loaded, and what is known of the others.
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
    #expect(shown == "server" || shown == path, "What is shown names the same library")
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
  func whatIsWrongWithALibraryIsAMistakeOfTheConfiguration(
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
