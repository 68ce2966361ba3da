import CacheDomain
import CachePresentation
import Testing

struct BackendViewTests {
  private static let lmdb = BackendRow(
    name: "lmdb", version: "0.9.24", summary: "a memory-mapped B+ tree", path: nil,
    capabilities: ["persistent", "shared"])
  private static let other = BackendRow(
    name: "other", version: "1", summary: "an example", path: "/lib/other.so", capabilities: [])

  private static func text(_ view: some OutputView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  @Test func list() {
    let view = BackendsView([Self.lmdb, Self.other], selected: "lmdb")
    #expect(
      Self.text(view, .json)
        == #"[{"name":"lmdb","version":"0.9.24","summary":"a memory-mapped B+ tree","builtIn":true,"path":null,"#
        + #""capabilities":["persistent","shared"]},{"name":"other","version":"1","summary":"an example","#
        + #""builtIn":false,"path":"/lib/other.so","capabilities":[]}]"# + "\n")
    #expect(
      Self.text(view, .table) == """
           Name   Version  Library        Capabilities        Summary
        *  lmdb   0.9.24   built in       persistent, shared  a memory-mapped B+ tree
           other  1        /lib/other.so  -                   an example

        """)
    #expect(Self.text(view, .csv).hasSuffix("\r\nother,1,an example,false,/lib/other.so,\r\n"))
  }

  @Test func aLibraryThatIsNotLoaded() {
    let library = BackendRow(
      name: "other", version: nil, summary: "not loaded", path: "/lib/libcachectl-other.so", capabilities: [])
    let warning = ErrorView(code: "invalidPlugin", message: "/lib/x.so is not used")
    let view = BackendsView([library], selected: "other", warnings: [warning])
    #expect(
      Self.text(view, .json)
        == #"[{"name":"other","version":null,"summary":"not loaded","builtIn":false,"#
        + #""path":"/lib/libcachectl-other.so","capabilities":[]}]"# + "\n")
    #expect(!Self.text(view, .table).contains("*"), "What is not loaded is not in use")
    #expect(view.warnings == [warning])
  }

  @Test func longMessagesAreBrokenBetweenWords() {
    let row = ChecksView.CheckRow(name: "reads", result: .failed, message: "expected the entry that was written")
    let text = OutputRenderer(.table, on: .terminal(width: 40, hasColor: false)).text(
      ChecksView(backend: "x", checks: [row]))
    #expect(text.split(separator: "\n").count == 3 && text.contains("was written"), "\(text)")
    #expect(row.line == #"{"name":"reads","result":"failed","message":"expected the entry that was written"}"# + "\n")
  }

  @Test func show() {
    let options = [
      BackendView.OptionRow(
        name: "durability", type: "full|normal|relaxed", defaultValue: "normal", help: "what a commit survives",
        isRequired: false, isSecret: false),
      BackendView.OptionRow(
        name: "password", type: "text", defaultValue: nil, help: "how to log in", isRequired: true, isSecret: true),
    ]
    let view = BackendView(Self.lmdb, options: options)
    #expect(
      Self.text(view, .table) == """
        Name          lmdb
        Version       0.9.24
        Summary       a memory-mapped B+ tree
        Library       built in
        Capabilities  persistent, shared

        Option      Type                 Default   Meaning
        durability  full|normal|relaxed  normal    what a commit survives
        password    text                 required  how to log in (secret)

        """)
    #expect(
      Self.text(view, .json).hasSuffix(
        #"{"name":"password","type":"text","default":null,"help":"how to log in","required":true,"secret":true}]}"#
          + "\n"))
  }

  @Test func checks() {
    let checks: [ChecksView.CheckRow] = [
      .init(name: "reads back", result: .passed), .init(name: "expires", result: .failed, message: "still there"),
      .init(name: "is shared", result: .skipped, message: "not declared"),
    ]
    let view = ChecksView(backend: "lmdb", checks: checks)
    #expect(
      Self.text(view, .json)
        == #"{"backend":"lmdb","passed":1,"failed":1,"skipped":1,"checks":[{"name":"reads back","result":"passed","#
        + #""message":""},{"name":"expires","result":"failed","message":"still there"},"#
        + #"{"name":"is shared","result":"skipped","message":"not declared"}]}"# + "\n")
    #expect(
      Self.text(view, .table) == """
        Result   Check       Message
        failed   expires     still there
        passed   reads back
        skipped  is shared   not declared

        """)
    #expect(view.status == StatusLine(["lmdb: 1 passed, 1 failed, 1 skipped"], style: .red))
  }

  private static let settings: [SettingsView.SettingRow] = [
    .init(path: ["backend"], value: "lmdb", origin: "CACHECTL_BACKEND"),
    .init(path: ["cache", "timeToLive"], value: "1h", origin: "default"),
    .init(path: ["cache", "maxEntries"], value: 100_000, origin: "config.json"),
    .init(path: ["origin", "movies", "apiKey"], value: ["env": "TMDB_API_KEY"], origin: "config.json"),
  ]

  @Test func settingsAreAConfiguration() {
    let view = SettingsView(Self.settings, showsOrigin: false)
    #expect(
      Self.text(view, .json)
        == #"{"backend":"lmdb","cache":{"timeToLive":"1h","maxEntries":100000},"#
        + #""origin":{"movies":{"apiKey":{"env":"TMDB_API_KEY"}}}}"# + "\n")
    #expect(Self.text(view, .csv).hasPrefix("key,value\r\nbackend,lmdb\r\ncache.timeToLive,1h\r\n"))
  }

  @Test func settingsWithTheirOrigins() {
    let view = SettingsView(Self.settings, showsOrigin: true)
    #expect(
      Self.text(view, .table) == """
        Setting               Value                   Origin
        backend               lmdb                    CACHECTL_BACKEND
        cache.timeToLive      1h                      default
        cache.maxEntries      100000                  config.json
        origin.movies.apiKey  {"env":"TMDB_API_KEY"}  config.json

        """)
    #expect(
      Self.text(view, .ndjson).hasPrefix(#"{"key":"backend","value":"lmdb","origin":"CACHECTL_BACKEND"}"# + "\n"))
    #expect(Self.text(view, .json).hasPrefix(#"{"file":null,"trust":null,"settings":[{"key":"backend","#))
    #expect(view.status == StatusLine(["No file: every setting has its default"]))
    let file = SettingsView.File(path: "/c.json", trust: "trusted")
    #expect(SettingsView([], file: file, showsOrigin: true).status == StatusLine(["/c.json (trusted)"]))
  }

  @Test func settingsFitANarrowScreen() {
    let screen = Screen.terminal(width: 40, hasColor: false)
    let settings = [
      SettingsView.SettingRow(path: ["backends", "sqlite", "path"], value: "/h/cache.sqlite", origin: "x")
    ]
    #expect(
      SettingsView(Self.settings + settings, showsOrigin: false).table(on: screen, hasHeader: true) == """
        backend  lmdb
        cache.timeToLive  1h
        cache.maxEntries  100000
        origin.movies.apiKey
          {"env":"TMDB_API_KEY"}
        backends.sqlite.path  /h/cache.sqlite

        """)
    let view = DoctorView([
      .init(
        name: "configuration", result: .problem, message: "the file says something that is wrong in it", hint: "mend it"
      ),
      .init(name: "home", result: .ok, message: "is there"),
    ])
    #expect(
      view.table(on: screen, hasHeader: true) == """
        problem  configuration
          the file says something that is wrong
          in it
          mend it
        ok  home  is there

        """)
    let paths = PathsView([
      .init(
        path: "/a/rather/long/path/to/cachectl.json", exists: true, isUsed: false, source: "default",
        trust: "not trusted")
    ])
    let lines = paths.table(on: screen, hasHeader: true).split(separator: "\n")
    #expect(lines == ["/a/rather/long/path/to/cachectl.json", "  not trusted", "  default"] && paths.status == nil)
  }

  @Test(
    arguments: [
      (.status(StatusLine(["a", "b"])), "a · b\n", #"{"status":{"message":"a · b"}}"#),
      (.detail(topic: "store", text: "x\ny"), "store: x\\ny\n", #"{"detail":{"topic":"store","message":"x\ny"}}"#),
      (.question("Sure?"), "Sure? [y/N] ", #"{"question":{"message":"Sure?"}}"#),
    ] as [(Diagnostic, String, String)])
  func diagnostics(_ diagnostic: Diagnostic, _ text: String, _ json: String) {
    #expect(diagnostic.text(on: .file) == text)
    #expect(JSONText.text(diagnostic.json) == json)
  }

  @Test(arguments: [
    ("run cachectl doctor", "cachectl: a \\u{1B} key: run cachectl doctor\n", #""run cachectl doctor""#),
    ("", "cachectl: a \\u{1B} key\n", "null"),
  ])
  func errors(_ hint: String, _ line: String, _ json: String) {
    let view = ErrorView(CacheError(.notCached, "a \u{1B} key", hint: hint))
    #expect(Diagnostic.error(view).text(on: .file) == line)
    let members = #"{"code":"notCached","message":"a \u001b key","hint":"# + json + "}"
    #expect(JSONText.text(Diagnostic.error(view).json) == #"{"error":"# + members + "}")
    #expect(JSONText.text(Diagnostic.warning(view).json) == #"{"warning":"# + members + "}")
    #expect(view.errorLine(on: .terminal(width: 9, hasColor: true)).hasPrefix("\u{1B}[31mcachectl:\u{1B}[0m a "))
  }
}
