import CachePresentation
import StorageSPI
import Testing

@testable import CacheComposition
@testable import ProgramConfiguration

/// What a configuration may say that was merely found in the working folder.
struct ConfigurationTrustTests {
  /// What each key may be set to without trust.
  private static let decisions: [String: ConfigurationSafety] = [
    "backend": .builtInEngine, "environment": .nothing, "plugins.searchPath": .nothing,
    "backends.sqlite.path": .belowHome, "backends.sqlite.durability": .nothing,
    "backends.sqlite.busyTimeout": .nothing, "backends.lmdb.path": .belowHome, "backends.lmdb.mapSize": .nothing,
    "backends.lmdb.durability": .nothing, "backends.plist.path": .belowHome,
    "backends.plist.durability": .nothing, "backends.plist.busyTimeout": .nothing,
    "cache.timeToLive": .upToDefault, "cache.staleIfError": .upToDefault,
    "cache.maxEntryBytes": .upToDefault, "cache.staleWhileRevalidate": .upToDefault, "cache.maxEntries": .nothing,
    "cache.maxBytes": .nothing,
    "cache.eviction": .anything, "cache.shared": .anything, "cache.transforms": .nothing, "cache.layers": .nothing,
    "transforms.zstd.level": .upToDefault, "transforms.sealed.key": .nothing,
    "transforms.sealed.keys": .nothing, "transforms.sealed.required": .nothing, "queries.maxCount": .nothing,
    "backends.tiered.near": .nothing, "backends.tiered.far": .nothing, "backends.tiered.nearMaxBytes": .nothing,
    "backends.tiered.nearMaxAge": .nothing,
    "origin.cities.kind": .nothing, "origin.cities.baseURL": .nothing, "origin.cities.headers": .nothing,
    "origin.cities.timeout": .upToDefault, "origin.cities.maxResponseBytes": .upToDefault,
    "origin.cities.maxConcurrentRequests": .upToDefault, "origin.movies.kind": .nothing,
    "origin.movies.baseURL": .nothing, "origin.movies.imagesBaseURL": .nothing, "origin.movies.apiKey": .nothing,
    "origin.movies.headers": .nothing, "origin.movies.timeout": .upToDefault,
    "network.proxy": .nothing, "network.authorityFile": .nothing, "network.clientCertificate": .nothing,
    "network.clientKey": .nothing, "origin.movies.maxResponseBytes": .upToDefault,
    "origin.movies.maxConcurrentRequests": .upToDefault,
  ]

  @Test func aDecisionIsMadeForEveryKey() {
    let keys = Fixtures.keys
    #expect(Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0.safety) }) == Self.decisions)
  }

  /// The keys that a found file with `text` asks trust for; none where it is used.
  private func wanted(
    _ text: String, files: FakeFiles = FakeFiles(), flags: ConfigurationFlags = ConfigurationFlags(),
    environment: [String: String] = [:], own: String? = nil
  ) throws -> [String] {
    let loader = ConfigurationLoader(
      engines: Fixtures.engines, sections: Fixtures.sections, environment: EnvironmentVariables(environment),
      workingDirectory: "/project",
      userHome: "/home/ada", libraries: Fixtures.libraries([Fixtures.serverLibrary]), files: files,
      readFile: { path in
        switch path {
        case "/project/cachectl.json": Array(text.utf8)
        case "/home/ada/.config/cachectl/config.json": own.map { Array($0.utf8) }
        default: nil
        }
      })
    let candidate = try loader.candidate(at: nil, flags)
    let trust = try loader.trust(flags)
    if candidate.settings.isEmpty {
      #expect(trust == .harmless)
      #expect(try loader.load(flags).trust == .harmless)
    } else {
      #expect(trust == .needed(isChanged: false))
      let error = try #require(throws: ConfigurationError.self) { try loader.load(flags) }
      #expect(error.code == .untrusted && loader.problems(flags).first == error)
      for setting in candidate.settings.prefix(5) { #expect(error.message.contains(setting.key)) }
    }
    return candidate.settings.map(\.key)
  }

  @Test func whatSaysTheDefaultsIsUsed() throws {
    #expect(try wanted(ConfigurationExample.text(engines: Fixtures.engines, sections: Fixtures.sections)) == [])
    #expect(try wanted(#"{"plugins": {"searchPath": ["/home/ada/.local/lib/cachectl/plugins"]}}"#) == [])
  }

  /// A found file takes the place of the user's own, so it would switch off what that seals.
  @Test(arguments: ["{}", #"{"cache": {"transforms": []}}"#, #"{"cache": {"transforms": ["sealed"]}}"#])
  func theUsersTransformsStay(text: String) throws {
    #expect(try wanted(text, own: #"{"cache": {"transforms": ["zstd"]}}"#) == ["cache.transforms"])
    #expect(try wanted("{}", own: #"{"backend": "lmdb"}"#) == [])
  }

  @Test(arguments: [
    #"{"backend": "lmdb"}"#, #"{"backend": "memory"}"#, #"{"backends": {"sqlite": {"path": "mine.sqlite"}}}"#,
    #"{"backends": {"lmdb": {"path": "~/.cache/cachectl/a/../b"}}}"#,
    #"{"cache": {"timeToLive": "0s", "staleIfError": "1d", "eviction": "none", "shared": true}}"#,
    #"{"origin": {"cities": {"timeout": "1s", "maxConcurrentRequests": 1}, "movies": {"maxResponseBytes": "1KiB"}}}"#,
  ])
  func whatIsSafeIsUsed(text: String) throws { #expect(try wanted(text) == []) }

  @Test(
    arguments: [
      (#"{"backend": "server"}"#, ["backend"]), (#"{"backend": "./libcachectl-server.so"}"#, ["backend"]),
      (#"{"plugins": {"searchPath": []}}"#, ["plugins.searchPath"]), (#"{"environment": "real"}"#, ["environment"]),
      (#"{"cache": {"timeToLive": "2h"}}"#, ["cache.timeToLive"]),
      (#"{"cache": {"staleIfError": "8d"}}"#, ["cache.staleIfError"]),
      (#"{"cache": {"staleWhileRevalidate": "1ms"}}"#, ["cache.staleWhileRevalidate"]),
      (#"{"cache": {"maxEntries": 1, "maxBytes": "1KiB"}}"#, ["cache.maxEntries", "cache.maxBytes"]),
      (#"{"queries": {"maxCount": 1}}"#, ["queries.maxCount"]),
      (#"{"backends": {"sqlite": {"durability": "relaxed"}}}"#, ["backends.sqlite.durability"]),
      (#"{"backends": {"plist": {"path": "/etc"}}}"#, ["backends.plist.path"]),
      (#"{"backends": {"plist": {"path": "../plist"}}}"#, ["backends.plist.path"]),
      (#"{"backends": {"plist": {"path": "~/.cache/cachectl"}}}"#, ["backends.plist.path"]),
      (#"{"backends": {"plist": {"path": "~/.cache/cachectl-2"}}}"#, ["backends.plist.path"]),
      (#"{"backends": {"lmdb": {"path": "a/../../../.ssh"}}}"#, ["backends.lmdb.path"]),
      (#"{"backends": {"server": {"url": "redis://127.0.0.1:6379"}}}"#, ["backends.server.url"]),
      (
        #"{"backends": {"redis": {"url": "redis://127.0.0.1:6379", "user": "x"}}}"#,
        ["backends.redis.url", "backends.redis.user"]
      ),
      (
        #"{"network": {"proxy": "http://x", "clientCertificate": "/etc/hosts"}}"#,
        ["network.proxy", "network.clientCertificate"]
      ),
      (#"{"origin": {"cities": {"kind": "propublica"}}}"#, ["origin.cities.kind"]),
      (
        #"{"origin": {"cities": {"kind": "http", "baseURL": "http://x", "headers": {"X": {"env": "HOME"}}}}}"#,
        ["origin.cities.kind", "origin.cities.baseURL", "origin.cities.headers"]
      ),
      (
        #"{"origin": {"movies": {"apiKey": {"env": "KEY"}, "imagesBaseURL": "http://x", "timeout": "1h"}}}"#,
        ["origin.movies.imagesBaseURL", "origin.movies.apiKey", "origin.movies.timeout"]
      ),
    ])
  func whatIsNotSafeAsksForTrust(text: String, keys: [String]) throws {
    #expect(try wanted(text) == keys)
    #expect(try wanted(text, flags: ConfigurationFlags(backend: "lmdb")) == keys, "A flag does not change it")
    #expect(try wanted(text, environment: ["CACHECTL_BACKEND": "plist"]) == keys, "Nor does a variable")
  }

  /// An engine that is not built in: which of its options are addresses is not known before its code runs.
  @Test(arguments: [
    ("redis://ada:word@10.0.0.1:6379/2", "redis://***@10.0.0.1:6379/2"), ("redis://10.0.0.1", "redis://10.0.0.1"),
    ("redis://ada:pa@ss/word@10.0.0.1:6379/2", "redis://***"), ("https://a.example/#@b.example", "https://***"),
    ("ada@example.com", "ada@example.com"), ("//@://", "//@://"),
  ])
  func noPasswordIsShown(url: String, shown: String) throws {
    let text = #"{"backends": {"server": {"url": "\#(url)", "nodes": ["\#(url)", {"a": "\#(url)"}]}}}"#
    let loader = Fixtures.loader(
      ["/project/cachectl.json": text], engines: Fixtures.engines,
      libraries: Fixtures.libraries([Fixtures.serverLibrary]), isTrusted: false)
    let value = JSONValue.string(shown)
    #expect(try loader.candidate(at: nil).settings.map(\.value) == [value, .array([value, ["a": value]])])
  }

  @Test func linksAreFollowed() throws {
    let text = #"{"backends": {"lmdb": {"path": "link/lmdb"}}}"#
    var files = FakeFiles()
    files.links["/home/ada/.cache/cachectl/link"] = "/nowhere"
    #expect(try wanted(text, files: files) == ["backends.lmdb.path"], "A link to nothing may lead anywhere")
    files.realPaths["/home/ada/.cache/cachectl/link"] = "/etc"
    #expect(try wanted(text, files: files) == ["backends.lmdb.path"])
    files.realPaths["/home/ada/.cache/cachectl/link"] = "/home/ada/.cache/cachectl/other"
    #expect(try wanted(text, files: files) == [])
    files.realPaths["/home/ada/.cache/cachectl"] = "/disk/cache"
    files.realPaths["/disk/cache/link"] = "/disk/cache/other"
    #expect(try wanted(text, files: files) == [], "The home itself may be behind a link")
  }

  @Test func filesThatTheUserNamesAreTheUsers() throws {
    let text = #"{"backend": "server", "queries": {"maxCount": 1}}"#
    for (path, flags, environment) in [
      ("/project/c.json", ConfigurationFlags(file: "c.json"), [:]),
      ("/project/cachectl.json", ConfigurationFlags(file: "cachectl.json"), [:]),
      ("/project/cachectl.json", ConfigurationFlags(), ["CACHECTL_CONFIG": "cachectl.json"]),
      ("/home/ada/.config/cachectl/config.json", ConfigurationFlags(), [:]),
    ] as [(String, ConfigurationFlags, [String: String])] {
      let loader = Fixtures.loader(
        [path: text], environment: environment, libraries: Fixtures.libraries([Fixtures.serverLibrary]),
        isTrusted: false)
      #expect(try loader.load(flags).trust == .own)
      #expect(loader.problems(flags).isEmpty)
    }
  }

  @Test func aFileThatIsOnlyCheckedLoadsNothing() {
    let libraries = Fixtures.libraries([Fixtures.serverLibrary]) { path throws(CacheError) in
      throw CacheError(.failed, "\(path) was loaded")
    }
    var flags = ConfigurationFlags(file: "c.json")
    let text = #"{"backend": "server", "bakend": 1}"#
    let loader = Fixtures.loader(
      ["/project/c.json": text], engines: Fixtures.engines, libraries: libraries, isTrusted: false)
    #expect(loader.problems(flags).map(\.code) == [.unknownKey, .invalidPlugin])
    flags.vouchesForFile = false
    #expect(loader.problems(flags).map(\.code) == [.unknownKey])
  }

  @Test func aPipeIsNotRead() throws {
    let path = "/project/cachectl.json"
    var files = FakeFiles()
    files.files[path] = .file()
    files.files[path]?.kind = .other
    let loader = ConfigurationLoader(
      engines: Fixtures.engines, sections: Fixtures.sections, environment: [:], workingDirectory: "/project",
      userHome: "/home/ada",
      libraries: EngineLibraries(), files: files,
      readFile: { path in
        if path.hasPrefix("/project") { Issue.record("\(path) is read") }
        return nil
      })
    #expect(loader.problems().map(\.code) == [.unreadableFile])
    #expect(throws: ConfigurationError.self) { try loader.candidate(at: nil) }
  }

  @Test func trustHoldsForTheContent() throws {
    let text = #"{"queries": {"maxCount": 1}}"#
    func trust(_ files: FakeFiles) throws -> ConfigurationTrust? {
      try ConfigurationLoader(
        engines: Fixtures.engines, sections: Fixtures.sections, environment: [:], workingDirectory: "/project",
        userHome: "/home/ada",
        libraries: EngineLibraries(), files: files,
        readFile: { path in path == "/project/cachectl.json" ? Array(text.utf8) : nil }
      ).trust()
    }
    #expect(try trust(Fixtures.trusting(text)) == .trusted)
    #expect(try trust(Fixtures.trusting("{}")) == .needed(isChanged: true))
    for path in Fixtures.trusting(text).files.keys where path.hasPrefix("/home") {
      var files = Fixtures.trusting(text)
      files.files[path]?.mode |= 0o020
      #expect(try trust(files) == .needed(isChanged: false), "Others may have written \(path)")
      files = Fixtures.trusting(text)
      files.files[path]?.owner = 1001
      #expect(try trust(files) == .needed(isChanged: false), "Another user has written \(path)")
    }
    var linked = Fixtures.trusting(text)
    linked.realPaths["/project/cachectl.json"] = "/elsewhere/cachectl.json"
    #expect(try trust(linked) == .needed(isChanged: false), "It is another file")
  }
}
