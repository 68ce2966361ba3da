@testable import CachectlTool
import CachePresentation
import EngineAPI
import Testing

struct BackendViewTests {
  private static let lmdb = Backend(
    name: "lmdb", version: "0.9.24", summary: "a memory-mapped B+ tree", path: nil,
    capabilities: ["persistent", "shared"])
  private static let other = Backend(
    name: "other", version: "1", summary: "an example", path: "/lib/other.so", capabilities: [])

  private static func text(_ view: some OutputView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  @Test func list() {
    let view = ListView([Self.lmdb, Self.other], selected: "lmdb")
    #expect(
      Self.text(view, .json)
        == #"[{"name":"lmdb","version":"0.9.24","summary":"a memory-mapped B+ tree","builtIn":true,"path":null,"#
        + #""capabilities":["persistent","shared"]},{"name":"other","version":"1","summary":"an example","#
        + #""builtIn":false,"path":"/lib/other.so","capabilities":[]}]"# + "\n")
    #expect(
      Self.text(view, .table) == """
           Name   Version  Summary                  Library        Capabilities
        *  lmdb   0.9.24   a memory-mapped B+ tree  built in       persistent, shared
           other  1        an example               /lib/other.so  -

        """)
    #expect(Self.text(view, .csv).hasSuffix("\r\nother,1,an example,false,/lib/other.so,\r\n"))
  }

  @Test(
    arguments: [
      (
        60,
        """
           Name   Version  Summary                  Library
        *  lmdb   0.9.24   a memory-mapped B+ tree  built in
           other  1        an example               /lib/other.so
        Too narrow to show: Capabilities

        """
      ),
      (
        40,
        """
        *  lmdb  0.9.24
          a memory-mapped B+ tree
          built in
          persistent, shared
        other  1  an example  /lib/other.so  -

        """
      ),
    ])
  func theListFitsTheTerminal(width: Int, text: String) {
    let view = ListView([Self.lmdb, Self.other], selected: "lmdb")
    #expect(view.table(on: .terminal(width: width, hasColor: false), hasHeader: true) == text)
  }

  @Test(arguments: [40, 60, 80])
  func theMeaningOfAnOptionIsNotCut(width: Int) {
    let help = "what a commit survives: full (loss of power), normal (a crash), relaxed (fastest)"
    let option = EngineOption(
      "durability", .choice(["full", "normal", "relaxed"]), default: .text("normal"), help: help)
    let view = RecordView(Self.lmdb, options: [option])
    let text = view.table(on: .terminal(width: width, hasColor: false), hasHeader: true)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= width } && !text.contains("…"), "\(text)")
    #expect(text.contains("(fastest)"), "\(text)")
  }

  @Test func aLibraryThatIsNotLoaded() {
    let library = Backend(
      name: "other", version: nil, summary: "not loaded", path: "/lib/libcachectl-other.so", capabilities: [])
    let warning = ErrorView(code: "invalidPlugin", message: "/lib/x.so is not used")
    let view = ListView([library], selected: "other", warnings: [warning])
    #expect(
      Self.text(view, .json)
        == #"[{"name":"other","version":null,"summary":"not loaded","builtIn":false,"#
        + #""path":"/lib/libcachectl-other.so","capabilities":[]}]"# + "\n")
    #expect(!Self.text(view, .table).contains("*"), "An engine that is not loaded is not in use")
    #expect(view.warnings == [warning])
  }

  @Test func longMessagesAreBrokenBetweenWords() {
    let row = CheckResult(name: "reads", result: .failed, message: "expected the entry that was written")
    let text = OutputRenderer(.table, on: .terminal(width: 40, hasColor: false)).text(
      ListView([row], of: "x"))
    #expect(text.split(separator: "\n").count == 3 && text.contains("was written"), "\(text)")
    #expect(row.line == #"{"name":"reads","result":"failed","message":"expected the entry that was written"}"# + "\n")
  }

  @Test func show() {
    let options = [
      EngineOption(
        "durability", .choice(["full", "normal", "relaxed"]), default: .text("normal"), help: "what a commit survives"),
      EngineOption("password", .text, help: "how to log in", isRequired: true, isSecret: true),
    ]
    let view = RecordView(Self.lmdb, options: options)
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
    let checks: [CheckResult] = [
      .init(name: "reads back", result: .passed), .init(name: "expires", result: .failed, message: "still there"),
      .init(name: "is shared", result: .skipped, message: "not declared"),
    ]
    let view = ListView(checks, of: "lmdb")
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

  /// A configuration that sets `text`, and the environment's `CACHECTL_BACKEND`.
  private static func configuration(_ text: String) throws -> Configuration {
    let environment = ["CACHECTL_BACKEND": "lmdb", "TMDB_API_KEY": "k"]
    return try Fixtures.loader([Fixtures.file: text], environment: environment).load()
  }

  private static let apiKey = #"{"origin": {"movies": {"apiKey": {"env": "TMDB_API_KEY"}}}}"#

  @Test func settingsAreAConfiguration() throws {
    let view = ListView(try Self.configuration(Self.apiKey), showsOrigin: false)
    #expect(view.json["backend"] == "lmdb" && view.json["cache"]?["timeToLive"] == "1h")
    #expect(view.json["origin"]?["movies"]?["apiKey"] == ["env": "TMDB_API_KEY"])
    #expect(Self.text(view, .csv).hasPrefix("key,value\r\n"))
    #expect(Self.text(view, .csv).contains("\r\ncache.timeToLive,1h\r\n"))
    #expect(view.status == nil)
  }

  @Test func settingsWithTheirOrigins() throws {
    let view = ListView(try Self.configuration(Self.apiKey), showsOrigin: true)
    let lines = Self.text(view, .table).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.first == ["Setting", "Value", "Origin"])
    #expect(lines.contains(["backend", "lmdb", "CACHECTL_BACKEND"]))
    #expect(lines.contains(["cache.timeToLive", "1h", "default"]))
    let apiKey = lines.first { $0.first == "origin.movies.apiKey" }
    #expect(apiKey?.dropLast() == ["origin.movies.apiKey", #"{"env":"TMDB_API_KEY"}"#])
    #expect(apiKey?.last?.hasPrefix("\(Fixtures.file):") == true)
    #expect(
      Self.text(view, .ndjson).contains(#"{"key":"backend","value":"lmdb","origin":"CACHECTL_BACKEND"}"# + "\n"))
    #expect(view.json["file"] == .string(Fixtures.file))
    #expect(view.status == StatusLine([Fixtures.file]))
    let none = ListView(try Fixtures.loader().load(), showsOrigin: true)
    #expect(none.json["file"] == .null)
    #expect(none.status == StatusLine(["No file: every setting has its default"]))
  }

  /// The place in the file stays visible, and the value gives way.
  @Test(arguments: [80, 100, 200]) func thePlaceInTheFileIsNeverCut(width: Int) throws {
    let view = ListView(try Self.configuration(Self.apiKey), showsOrigin: true)
    let lines = view.table(on: .terminal(width: width, hasColor: false), hasHeader: true).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("origin.movies.apiKey ") })
    #expect(line.hasSuffix("config.json:1:34") && line.count <= width, "\(line)")
    #expect(line.contains(Fixtures.file) == (width == 200), "\(line)")
  }

  @Test func settingsFitANarrowScreen() throws {
    let screen = Screen.terminal(width: 40, hasColor: false)
    let settings = ListView(try Self.configuration(Self.apiKey), showsOrigin: false)
    let text = settings.table(on: screen, hasHeader: true)
    #expect(text.contains("\ncache.timeToLive  1h\n"), "\(text)")
    #expect(text.contains("\norigin.movies.apiKey\n  {\"env\":\"TMDB_API_KEY\"}\n"), "\(text)")
    let view = ListView<Finding>([
      .problem("configuration", .invalidOption, "the file says something that is wrong in it", hint: "mend it"),
      .ok("home", "is there"),
    ])
    #expect(
      view.table(on: screen, hasHeader: true) == """
        problem  configuration
          the file says something that is wrong
          in it
          mend it
        ok  home  is there

        """)
    let paths = ListView(path: "/a/rather/long/path/to/config.json", exists: true, source: "default")
    let lines = paths.table(on: screen, hasHeader: true).split(separator: "\n")
    #expect(lines == ["/a/rather/long/path/to/config.json", "  used", "  default"] && paths.status == nil)
  }
}
