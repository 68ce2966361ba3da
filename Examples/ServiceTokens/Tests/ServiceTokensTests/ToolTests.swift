import Foundation
import ServiceTokens
import Testing

/// The program as its users see it, over engines that their configuration names.
struct CachectlToolTests {
  @Test(arguments: Backends.persistent)
  func valuesAreMaskedUntilTheyAreRequested(backend: String) async throws {
    let tool = ToolRun(try TestHome())
    #expect(await tool.run("insert", "github", "s3cret", "--backend", backend) == .init())
    let masked = await tool.run("list", "--backend", backend)
    #expect(masked == .init(output: "github\t********\tnever\n"))
    let shown = await tool.run("--backend", backend, "list", "--show")
    #expect(shown == .init(output: "github\ts3cret\tnever\n"))
  }

  @Test func theConfigurationNamesTheEngine() async throws {
    let home = try TestHome()
    let tool = ToolRun(home)
    let folder = home.folder + "/.config/cachectl"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(#"{"backend": "plist"}"#.utf8).write(to: URL(filePath: folder + "/config.json"))
    #expect(await tool.run("insert", "a", "b").status == 0)
    #expect(await tool.run("list", "--backend", "sqlite").output == "")
    #expect(await tool.run("list", "--show").output == "a\tb\tnever\n")
  }

  @Test func aValueIsReadFromTheStandardInput() async throws {
    let tool = ToolRun(try TestHome(), input: "from-input")
    #expect(await tool.run("insert", "a", "-").status == 0)
    #expect(await tool.run("list", "--show").output == "a\tfrom-input\tnever\n")
  }

  @Test func aTokenWithAnEndShowsItsEnd() async throws {
    let tool = ToolRun(try TestHome())
    #expect(await tool.run("insert", "a", "b", "--expires", "7d").status == 0)
    let line = await tool.run("list").output
    #expect(line.wholeMatch(of: /a\t\*{8}\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\n/) != nil)
  }

  @Test(arguments: [
    [], ["insert"], ["insert", "a"], ["insert", "a", "hidden", "more"], ["list", "a"], ["remove"], ["--backend"],
    ["insert", "a", "hidden", "--expires", "soon"], ["insert", "a", "hidden", "--expires", "0s"],
    ["insert", "a", "hidden", "--show"], ["list", "--expires", "1s"], ["insert", "a", "--hidden"],
    ["insert", "a b", "hidden"], ["insert", "a", "hidden value"],
  ])
  func aWrongCommandLineEndsWith64AndRepeatsNoValue(arguments: [String]) async throws {
    let outcome = await ToolRun(try TestHome()).run(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.hasPrefix("service-tokens: ") && outcome.error.hasSuffix("\n"))
    #expect(!outcome.error.contains("hidden"))
  }

  @Test func mistakesInTheSetupEndAsInTheTool() async throws {
    let tool = ToolRun(try TestHome())
    #expect(await tool.run("list", "--backend", "nothing").status == 78)
    #expect(await tool.run("list", "--home", "/dev/null/x").status == 73)
    #expect(await tool.run("list", "--help").output.hasPrefix("usage: service-tokens"))
  }
}

/// Runs the program in a home of a test's own.
struct ToolRun {
  private let tool: ServiceTokensTool
  /// Keeps the folder for as long as the program is used.
  private let home: TestHome

  init(_ home: TestHome, input: String? = nil) {
    self.home = home
    tool = ServiceTokensTool(
      environment: ["HOME": home.folder, "CACHECTL_HOME": home.home], workingDirectory: home.folder,
      readLine: { input })
  }

  func run(_ arguments: String...) async -> ServiceTokensTool.Outcome { await tool.run(arguments) }
  func run(_ arguments: [String]) async -> ServiceTokensTool.Outcome { await tool.run(arguments) }
}
