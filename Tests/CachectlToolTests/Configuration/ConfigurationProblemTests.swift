import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct ConfigurationProblemTests {
  private static let longName = String(repeating: "n", count: 256)
  private static let longPath = String(repeating: "/abcdefg", count: 512)

  @Test(arguments: [
    (#"{"cache": {"maxEntrys": 1}}"#, "1:12: unknown key 'cache.maxEntrys'", "nearest known key is 'cache.maxEntries'"),
    (#"{"maxEntries": 1}"#, "1:2: unknown key 'maxEntries'", "nearest known key is 'cache.maxEntries'"),
    (#"{"backend ": "x"}"#, "1:2: unknown key '\"backend \"'", "nearest known key is 'backend'"),
    (#"{"cache.shared": true}"#, "1:2: unknown key '\"cache.shared\"'", "nearest known key is 'cache.shared'"),
    (#"{"cache": {"$schema": "x"}}"#, "1:12: unknown key 'cache.\"$schema\"'", "known here: timeToLive"),
    (#"{"a\u001bb": true}"#, "1:2: unknown key '\"a\\u001bb\"'", "known here: backend, environment, backends"),
    (#"{"tides": {"unit": 1}}"#, "1:2: unknown key 'tides'", "it belongs to no resource of this program"),
    (
      #"{"origin": {"weather": {}}}"#, "1:13: unknown key 'origin.weather'", "it belongs to no resource of this program"
    ), (#"{"cites": {"kind": "http"}}"#, "1:2: unknown key 'cites'", "nearest known key is 'origin.cities'"),
    (#"{"sqlite": {"path": "x"}}"#, "1:2: unknown key 'sqlite'", "nearest known key is 'backends.sqlite'"),
    (#"{"origin": {"citeis": {}}}"#, "1:13: unknown key 'origin.citeis'", "nearest known key is 'origin.cities'"),
    (#"{"backends": {"Other!": {}}}"#, "1:15: unknown key 'backends.\"Other!\"'", "known here: sqlite, lmdb, plist"),
    (#"{"backends": {"lmbd": {}}}"#, "1:15: unknown key 'backends.lmbd'", "nearest known key is 'backends.lmdb'"),
    (#"{"backends": {"sqlite3": {}}}"#, "unknown key 'backends.sqlite3'", "nearest known key is 'backends.sqlite'"),
    (#"{"backends": {"plugin": {}}}"#, "unknown key 'backends.plugin'", "known here"),
    (#"{"backends": {"lmdb": {"mapsize": "1GB"}}}"#, "unknown key 'backends.lmdb.mapsize'", "'backends.lmdb.mapSize'"),
    (#"{"backends": {"memory": {"path": "x"}}}"#, "unknown key 'backends.memory.path'", "nearest known key is"),
  ])
  func anUnknownKey(text: String, message: String, hint: String) throws {
    try expect(text, .unknownKey, message, hint)
  }

  @Test(arguments: [
    ("[]", "1:1: the configuration is a list", "give an object"),
    (#"{"cache": 1}"#, "1:11: 'cache' is a number, not an object", "give an object"),
    (#"{"backends": {"redis": 1}}"#, "1:24: 'backends.redis' is a number, not an object", "give an object"),
    (#"{"$schema": 1}"#, "1:13: '$schema' is a number, not a text", "give the address"),

    (#"{"backend": null}"#, "1:13: 'backend' is null, not a text", "give one of sqlite, lmdb"),
    (#"{"cache": {"timeToLive": 3600}}"#, "'cache.timeToLive' is a number, not a duration", "from 0s to 3650d"),
    (#"{"cache": {"maxBytes": 5}}"#, "'cache.maxBytes' is a number, not a size", "from 1KiB to 1024TiB"),
    (#"{"cache": {"maxEntries": "5"}}"#, "is a text, not a whole number", "a whole number from 1 to 1000000000"),
    (#"{"cache": {"shared": "true"}}"#, "'cache.shared' is a text, not a boolean", "give true or false"),
    (#"{"plugins": {"searchPath": "x"}}"#, "is a text, not a list of paths", "give a list of paths"),
    (#"{"cache": {"transforms": "zstd"}}"#, "is a text, not a list of names", "give a list of names"),
    (#"{"cache": {"transforms": [1]}}"#, "1:27: 'cache.transforms[0]' is a number, not a name", "give a list"),
    (#"{"transforms": {"sealed": {"key": "hush"}}}"#, "'transforms.sealed.key' is not written as a secret", "{\"env\""),
    (#"{"plugins": {"searchPath": ["x", 1]}}"#, "1:34: 'plugins.searchPath[1]' is a number, not a path", "give a"),
    (#"{"origin": {"movies": {"apiKey": "hush"}}}"#, "'origin.movies.apiKey' is not written as a secret", "{\"env\""),
    (#"{"origin": {"movies": {"apiKey": {"env": "A B"}}}}"#, "is not written as a secret", "{\"env\": \"NAME\"}"),
    (#"{"origin": {"cities": {"headers": {"Cookie": "hush"}}}}"#, "1:46: 'origin.cities.headers.Cookie'", "{\"env\""),
    (#"{"origin": {"cities": {"headers": []}}}"#, "is a list, not an object of headers", "header names"),
  ])
  func aWrongType(text: String, message: String, hint: String) throws { try expect(text, .wrongType, message, hint) }

  @Test(arguments: [
    (#"{"cache": {"timeToLive": "1x"}}"#, "1:26: 'cache.timeToLive' is not a duration: \"1x\"", "like 1h30m"),
    (#"{"cache": {"maxBytes": "1"}}"#, "'cache.maxBytes' is not a size: \"1\"", "like 64MiB"),
    (#"{"cache": {"maxEntries": 1.5}}"#, "is not a whole number: \"1.5\"", "a whole number"),
    (#"{"cache": {"maxEntries": 99999999999999999999}}"#, "is not a whole number", "a whole number"),
    (#"{"backends": {"plist": {"path": ""}}}"#, "'backends.plist.path' is not a path: \"\"", "give a path"),
    (#"{"backends": {"sqlite": {"path": ":memory:"}}}"#, "is not a path: \":memory:\"", "the engine memory"),
    (#"{"backends": {"sqlite": {"path": "file:x?mode=memory"}}}"#, "1:34: 'backends.sqlite.path' is not a path", "URI"),
    (#"{"backends": {"sqlite": {"path": "a\u0000b"}}}"#, "1:34: 'backends.sqlite.path' is not a path", "give a path"),
    (#"{"network": {"authorityFile": "a\u0000b"}}"#, "1:31: 'network.authorityFile' is not a path", "give a path"),
    (#"{"plugins": {"searchPath": ["x", "a\u0000b"]}}"#, "'plugins.searchPath' is not a list of paths", "give a list"),
    (#"{"backends": {"server": {"url": "a\u0000b"}}}"#, "'backends.server.url' has a null character", "give a text"),
    (#"{"backend": "./a\u0000b.so"}"#, "1:13: 'backend' has a null character in it", "give one of"),
    (#"{"origin": {"cities": {"baseURL": "https://a\u0000b/"}}}"#, "is not an address of a server", "https://"),
    (#"{"origin": {"cities": {"baseURL": "https://a/\r\nb"}}}"#, "is not an address of a server", "https://"),
    (#"{"network": {"proxy": "http://a\u0000b"}}"#, "is not the address of a proxy", "give an address"),
    (#"{"origin": {"cities": {"headers": {"A": "x\u0000"}}}}"#, "has a control character", "on one line"),
    (#"{"backends": {"plist": {"path": "\#(longName)"}}}"#, "1:33: 'backends.plist.path' is not a path", "give a path"),
    (#"{"backends": {"plist": {"path": "\#(longPath)"}}}"#, "1:33: 'backends.plist.path' is not a path", "give a path"),
    (#"{"origin": {"cities": {"baseURL": "ftp://x"}}}"#, "is not an address of a server", "https://"),
    (#"{"origin": {"cities": {"baseURL": "https://a:hush@x"}}}"#, "is not an address of a server", "without user"),
    (
      #"{"backends": {"server": {"url": "redis://:hush@a:1"}}}"#,
      "1:33: 'backends.server.url' is an address with a user or a password in it", "\"password\": {\"env\": \"NAME\"}"
    ),
    (
      #"{"backends": {"notloaded": {"url": "redis://a,b:hush@c"}}}"#,
      "1:36: 'backends.notloaded.url' is an address with a user or a password in it", "give the options user"
    ), (#"{"origin": {"cities": {"baseURL": "http://a／b"}}}"#, "is not an address of a server", "https://"),
    (#"{"origin": {"cities": {"baseURL": "https:///x"}}}"#, "is not an address of a server", "https://"),
    (
      #"{"origin": {"cities": {"headers": {"A B": "x"}}}}"#, "1:36: 'origin.cities.headers.\"A B\"' is not",
      "by its name"
    ), (#"{"origin": {"cities": {"headers": {"A": "x", "a": "y"}}}}"#, "1:46: 'origin.cities.headers.a' is", "once"),
    (#"{"origin": {"cities": {"headers": {"A": "x\r\ny: z"}}}}"#, "has a control character", "on one line"),
  ])
  func aMalformedValue(text: String, message: String, hint: String) throws {
    try expect(text, .malformed, message, hint)
  }

  @Test(arguments: [
    (
      #"{"backend": "sqlit"}"#, "'backend' cannot be \"sqlit\"",
      "sqlite, lmdb, plist, memory, redis, server, tiered; the nearest is sq"
    ), (#"{"environment": "prod"}"#, "'environment' cannot be \"prod\"", "give one of dev, alpha, real"),
    (#"{"cache": {"eviction": "lrv"}}"#, "'cache.eviction' cannot be \"lrv\"", "the nearest is lru"),
    (#"{"cache": {"maxEntries": 0}}"#, "'cache.maxEntries' is out of range: \"0\"", "from 1 to"),
    (#"{"origin": {"cities": {"timeout": "0s"}}}"#, "1:35: 'origin.cities.timeout' is out of", "1ms to 1h, like 1m30s"),
    (#"{"origin": {"movies": {"maxResponseBytes": "0B"}}}"#, "is out of range: \"0B\"", "from 1B to 1GiB, like 64MiB"),
    (#"{"cache": {"maxEntries": -0}}"#, "'cache.maxEntries' is out of range", "from 1 to"),
    (#"{"cache": {"timeToLive": "3651d"}}"#, "'cache.timeToLive' is out of range: \"3651d\"", "from 0s to 3650d"),
    (#"{"backends": {"lmdb": {"mapSize": "1B"}}}"#, "'backends.lmdb.mapSize' is out of range", "from 1MiB to 64TiB"),
    (#"{"queries": {"maxCount": 1001}}"#, "'queries.maxCount' is out of range", "from 1 to 1000"),
  ])
  func aValueOutOfRange(text: String, message: String, hint: String) throws {
    try expect(text, .outOfRange, message, hint)
  }

  @Test func anOriginByHTTPNeedsAnAddress() throws {
    let text = #"{"origin": {"cities": {"kind": "http"}}}"#
    try expect(text, .missing, "1:32: 'origin.cities.baseURL' is missing, which kind http needs", "give an address")
    let wrong = #"{"origin": {"cities": {"kind": "http", "baseURL": "x"}}}"#
    #expect(Fixtures.problems(wrong).map(\.code) == [.malformed])
  }

  @Test func aKeyNeedsItsCertificate() throws {
    let text = #"{"network": {"clientKey": "/k"}}"#
    try expect(text, .missing, "'network.clientCertificate' is missing, which that key is for", "certificate")
    #expect(Fixtures.problems(#"{"network": {"clientKey": "/k", "clientCertificate": "/c"}}"#).isEmpty)
  }

  @Test(arguments: ["proxy:3128", "http://proxy", "SOCKS5H://proxy:1", "HTTP://prøxy:1", ""])
  func theKindOfAProxyIsKnown(address: String) throws {
    #expect(Fixtures.problems(#"{"network": {"proxy": "\#(address)"}}"#).isEmpty)
    let unknown = #"{"network": {"proxy": "foo://proxy"}}"#
    try expect(unknown, .malformed, "is not the address of a proxy: there is no such kind of proxy", "socks5h://")
  }

  @Test func aFileThatIsNotJSON() throws {
    try expect("{\n  backend: 1}", .syntax, "config.json:2:3: expected a key in double quotes, found 'b'", "JSON")
  }

  @Test func allProblemsAreReportedInOrder() {
    let text = #"{"x": 1, "backend": "no", "cache": {"maxEntries": true}, "origin": {"cities": {"kind": "http"}}}"#
    let found = Fixtures.problems(
      text, environment: ["CACHECTL_LMDB_MAPSIZE": "1GB", "CACHECTL_LMDB_DURABILITY": "most", "CACHECTL_X": "1"])
    #expect(found.map(\.code) == [.unknownKey, .outOfRange, .wrongType, .missing, .outOfRange, .unknownKey])
    #expect(
      found[5].description
        == "CACHECTL_LMDB_MAPSIZE: there is no such setting: the nearest known variable is CACHECTL_LMDB_MAP_SIZE")
    let loader = Fixtures.loader([Fixtures.file: text])
    #expect(throws: found[0]) { try loader.load() }
  }

  /// A variable that names no setting can belong to another program. So it stops no command. `config show`, `config
  /// validate` and `doctor` mention it.
  @Test(arguments: [
    ("CACHECTL_CACHE_TTL", "the nearest known variable is CACHECTL_CACHE_TIME_TO_LIVE"),
    ("CACHECTL_SQLITE_FLAVOR", "known are CACHECTL_SQLITE_PATH, "),
    ("CACHECTL_ORIGIN_TIDES", "known are CACHECTL_ORIGIN_CITIES_KIND, "),
  ])
  func aVariableThatIsIgnoredIsMentioned(name: String, hint: String) throws {
    let others = [
      "CACHECTL_HOME": "/h", "CACHECTL_X": "1", "CACHECTL_OTHER_NAME": "1", "CACHECTL_CACHE_SHARED": "true",
    ]
    let loader = Fixtures.loader(environment: others.merging([name: "5m", "CACHECTL_CACHE_EMPTY": ""]) { $1 })
    _ = try loader.load()
    #expect(loader.problems().isEmpty)
    #expect(loader.ignoredVariables.map(\.message) == ["\(name) is ignored: there is no such setting"])
    #expect(loader.ignoredVariables.first?.hint.hasPrefix(hint) == true, "\(loader.ignoredVariables)")
  }

  /// A mistake that is reported is not mentioned twice.
  @Test func aMisspelledVariableIsAMistake() {
    let loader = Fixtures.loader(environment: ["CACHECTL_LMDB_MAPSIZE": "1GB"])
    #expect(loader.ignoredVariables.isEmpty && loader.problems().count == 1)
  }

  @Test func thereIsAnEndToTheProblems() {
    let text = "{" + (0..<5_000).map { "\"k\($0)\": 1" }.joined(separator: ", ") + "}"
    #expect(Fixtures.problems(text).count == SectionReader.maximumProblems)
  }

  @Test(arguments: [
    (ConfigurationFlags(file: "no.json"), [:], "--config: there is no file /project/no.json"),
    (ConfigurationFlags(), ["CACHECTL_CONFIG": "/no.json"], "CACHECTL_CONFIG: there is no file /no.json"),
  ])
  func aNamedFileMustExist(flags: ConfigurationFlags, environment: [String: String], message: String) {
    let found = Fixtures.loader(environment: environment).problems(flags)
    #expect(found.map(\.code) == [.missingFile])
    #expect(found.first?.message == message)
  }

  @Test func aMistakeInAFlagSaysSo() throws {
    let found = Fixtures.loader().problems(ConfigurationFlags(backend: "lmbd"))
    #expect(found.map(\.source) == [.flag("--backend")])
    #expect(found.first?.message == "--backend: there is no backend 'lmbd'")
    #expect(
      found.first?.hint == "give one of sqlite, lmdb, plist, memory, redis, server, tiered; the nearest is lmdb; "
        + "libcachectl-lmbd.so was looked for in /home/ada/.local/lib/cachectl/plugins")
    let malformed = Fixtures.loader().problems(ConfigurationFlags(backend: "LMDB"))
    #expect(malformed.first?.message == "--backend: 'backend' cannot be \"LMDB\"")
  }

  @Test func aFileMustNotBeTooLargeOrUnreadable() {
    let large = String(repeating: " ", count: ConfigurationLoader.maximumFileSize) + "{}"
    #expect(Fixtures.problems(large).map(\.message) == ["\(Fixtures.file): larger than 1MiB, the most that is read"])
    #expect(Fixtures.problems(large).map(\.hint) == ["shorten it, or name another file"])
    let error = ConfigurationError.unreadable("/x", reason: "it is a folder")
    let loader = ConfigurationLoader(
      engines: [], environment: [:], workingDirectory: "/", userHome: "/home/ada",
      readFile: { _ throws(ConfigurationError) in throw error })
    #expect(throws: error) { try loader.load() }
  }

  @Test func noProblemShowsASecret() {
    for text in [
      #"{"origin": {"movies": {"apiKey": "hush"}}}"#, #"{"origin": {"cities": {"baseURL": "https://a:hush@x"}}}"#,
      #"{"origin": {"cities": {"headers": {"Authorization": "hush"}}}}"#,
      #"{"backends": {"server": {"password": "hush"}}}"#,
    ] {
      let found = Fixtures.problems(text)
      #expect(found.count == 1)
      #expect(found.allSatisfy { !$0.description.contains("hush") })
    }
  }

  private func expect(
    _ text: String, _ code: ConfigurationError.Code, _ message: String, _ hint: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = Fixtures.problems(text)
    let problem = try #require(found.first, sourceLocation: sourceLocation)
    #expect(found.count == 1, sourceLocation: sourceLocation)
    #expect(problem.code == code, sourceLocation: sourceLocation)
    #expect(problem.message.hasPrefix("\(Fixtures.file):"), sourceLocation: sourceLocation)
    #expect(problem.message.contains(message), "\(problem.message)", sourceLocation: sourceLocation)
    #expect(problem.hint.contains(hint), "\(problem.hint)", sourceLocation: sourceLocation)
  }
}
