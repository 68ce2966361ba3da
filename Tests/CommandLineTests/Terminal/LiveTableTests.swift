import Foundation
import TestOrigin
import Testing

/// `--policy cached-then-network` on a terminal: the cached table, brought up to date in place.
@Suite(.timeLimit(.minutes(30))) struct LiveTableTests {
  private static let command = ["fetch", "cities", "--policy", "cached-then-network"]

  /// A terminal, and the program's output on it.
  private struct Session {
    let scratch: Scratch
    let server: TestServer
    let gate: TestGate
    let terminal: PseudoTerminal
    let size: (columns: Int, rows: Int)

    /// `names` are cached; the server will respond with `answer` after the gate is open.
    init(
      columns: Int = 100, rows: Int = 24, cached names: [String] = ["OLD ONE", "OLD TWO"], freshFor age: Int = 600,
      answer: TestResponse
    ) async throws {
      (scratch, gate) = (try Scratch(), try TestGate())
      size = (columns, rows)
      terminal = try PseudoTerminal(columns: columns, rows: rows)
      server = try TestServer(script: [LiveTableTests.page(names, freshFor: age)])
      try scratch.configure(OriginSettings.cities(server.url))
      expectSuccess(try await scratch.cachectl("fetch", "cities"))
      server.override(answer.held(by: gate))
    }

    func start(_ options: String..., environment: [String: String] = ["TERM": "xterm"], errors: Bool = true) throws
      -> RunningProgram
    {
      try RunningProgram(
        Binary.path, LiveTableTests.command + options, in: scratch, environment: environment,
        outputTo: terminal.path, errorsTo: errors ? terminal.path : nil)
    }

    /// The screen after `text`, which came when `count` lines stood on it already.
    func screen(_ text: String, below count: Int = 0) -> ScreenModel {
      var screen = ScreenModel(columns: size.columns, rows: size.rows)
      for number in 0..<count { screen.write("above \(number)\r\n") }
      screen.write(text)
      return screen
    }
  }

  private static func page(_ names: [String], freshFor age: Int = 600) -> TestResponse {
    let items = names.map { #"{"id": "\#($0)", "name": "\#($0)", "subName": "KY", "revenue": 12}"# }
    let text = """
      {"page": 0, "totalPages": 1, "totalItems": \(names.count), "items": [\(items.joined(separator: ", "))]}
      """
    return .json(text, fields: ["Cache-Control": "max-age=\(age), stale-if-error=600"])
  }

  /// The lines of the table of these cities on a wide screen.
  private static func table(_ names: [String]) -> [String] {
    let width = max(names.map(\.count).max() ?? 0, 4)
    let rows = names.enumerated().map { index, name in
      "\(index + 1)  \(name.padding(toLength: width, withPad: " ", startingAt: 0))  KY         $12              -"
    }
    return ["#  \("City".padding(toLength: width, withPad: " ", startingAt: 0))  State  Revenue  Organizations"] + rows
  }

  @Test(arguments: [0, 1, 19, 20, 23], [["NEW"], ["NEW ONE", "NEW TWO", "NEW THREE"]])
  func theCachedTableIsReplaced(below count: Int, names: [String]) async throws {
    let session = try await Session(answer: Self.page(names))
    let program = try session.start()
    await session.terminal.shows("Waiting for the origin")
    let above = (0..<count).map { "above \($0)" }
    let before = session.screen(session.terminal.text, below: count)
    #expect(before.all.dropLast() == above + Self.table(["OLD ONE", "OLD TWO"]))
    session.gate.open()
    expectSuccess(try await program.end())
    let after = session.screen(await session.terminal.end(), below: count)
    #expect(after.problems.isEmpty)
    #expect(after.all.dropLast() == above + Self.table(names))
    #expect(after.all.last?.contains("from the origin, fresh for") == true, "\(after.all)")
  }

  @Test(arguments: [12, 20, 31, 40, 57])
  func theCachedTableIsReplacedHoweverNarrow(columns: Int) async throws {
    let name = "日本語の長い名前をもつ町は狭い画面に収まらない"
    let session = try await Session(columns: columns, cached: [name, "OLD"], answer: Self.page(["NEW"]))
    let program = try session.start(errors: false)
    await session.terminal.shows("OLD")
    session.gate.open()
    expectSuccess(try await program.end())
    let screen = session.screen(await session.terminal.end(), below: 3)
    #expect(screen.problems.isEmpty)
    #expect(screen.all.count >= 5 && screen.all[..<3] == ["above 0", "above 1", "above 2"], "\(screen.all)")
    #expect(screen.all.dropFirst(4).first?.contains("NEW") == true && !screen.all.joined().contains("OLD"))
  }

  /// Its two cities, the header and the cursor need four lines.
  @Test(arguments: [(3, "xterm", []), (24, "dumb", []), (24, "xterm", ["--verbose"])] as [(Int, String, [String])])
  func elsewhereOneTableFollowsTheOther(rows: Int, terminal: String, options: [String]) async throws {
    let session = try await Session(rows: rows, answer: Self.page(["NEW"]))
    let program = try RunningProgram(
      Binary.path, Self.command + options, in: session.scratch, environment: ["TERM": terminal],
      outputTo: session.terminal.path)
    await session.terminal.shows("OLD TWO")
    session.gate.open()
    expectSuccess(try await program.end())
    let text = await session.terminal.end()
    #expect(!text.contains("\u{1B}[J") && !text.contains(/\e\[\d+A/), "\(text)")
    let lines = session.screen(text).all
    #expect(lines.filter { !$0.hasSuffix(":") } == Self.table(["OLD ONE", "OLD TWO"]) + Self.table(["NEW"]))
    #expect(lines.first?.hasPrefix("From cache (sqlite), stored ") == true, "\(lines)")
    #expect(lines.dropFirst(4).first?.hasPrefix("From the origin, fresh for ") == true, "\(lines)")
  }

  @Test func aTerminalOfAnotherSizeGetsBothTables() async throws {
    let session = try await Session(answer: Self.page(["NEW"]))
    let program = try session.start()
    await session.terminal.shows("Waiting for the origin")
    session.terminal.resize(columns: 60, rows: 24)
    session.gate.open()
    expectSuccess(try await program.end())
    let lines = session.screen(await session.terminal.end()).all
    #expect(Array(lines.prefix(3)) == Self.table(["OLD ONE", "OLD TWO"]))
    #expect(lines.contains { $0.hasPrefix("From the origin") } && lines.contains { $0.contains("NEW") }, "\(lines)")
  }

  @Test(arguments: [true, false])
  func theCachedTableStaysIfTheOriginFails(isStale: Bool) async throws {
    let session = try await Session(freshFor: isStale ? 0 : 600, answer: .html(500))
    let program = try session.start()
    await session.terminal.shows("Waiting for the origin")
    session.gate.open()
    expectSuccess(try await program.end())
    let screen = session.screen(await session.terminal.end())
    #expect(screen.problems.isEmpty)
    #expect(Array(screen.all.prefix(3)) == Self.table(["OLD ONE", "OLD TWO"]))
    let remarks = screen.all.dropFirst(3).joined(separator: "\n")
    #expect(remarks.hasPrefix("cachectl: warning: ") && remarks.contains("500"), "\(remarks)")
    #expect(remarks.contains("from cache (sqlite), stored") && remarks.contains("stale for") == isStale, "\(remarks)")
    #expect(!remarks.contains("Asking"))
    let run = try await session.scratch.cachectl(Self.command + ["--output", "json"])
    #expect(run.status == 0 && run.errors.contains("500"))
    #expect(try run.documents().map { $0["stale"] } == [.boolean(isStale), .boolean(isStale)])
  }

  @Test func theCachedTableStaysIfTheOriginRefuses() async throws {
    let session = try await Session(answer: .html(401))
    let program = try session.start()
    session.gate.open()
    #expect(try await program.end().status == 77)
    let lines = session.screen(await session.terminal.end()).all
    #expect(Array(lines.prefix(3)) == Self.table(["OLD ONE", "OLD TWO"]))
    #expect(lines.dropFirst(3).first?.hasPrefix("Page 1 of 1") == true, "\(lines)")
    #expect(lines.dropFirst(4).first?.hasPrefix("cachectl: ") == true, "\(lines)")
  }

  @Test func anInterruptionLeavesTheCachedTable() async throws {
    let session = try await Session(answer: Self.page(["NEW"]))
    let program = try session.start()
    await session.terminal.shows("Waiting for the origin")
    program.signal(SIGINT)
    #expect(try await program.end().status == 130)
    let lines = session.screen(await session.terminal.end()).all
    #expect(Array(lines.prefix(3)) == Self.table(["OLD ONE", "OLD TWO"]))
    #expect(!lines.contains { $0.contains("Asking") }, "\(lines)")
  }

  @Test func remarksThatGoElsewhereAreAboutTheVisibleRest() async throws {
    let session = try await Session(answer: Self.page(["NEW"]))
    let program = try session.start(errors: false)
    session.gate.open()
    let run = try await program.end()
    #expect(run.errorLines.count == 1 && run.errors.contains("from the origin"), "\(run.errors)")
    #expect(session.screen(await session.terminal.end()).all == Self.table(["NEW"]))
  }

  @Test func quietMeansTheTableAlone() async throws {
    let session = try await Session(answer: Self.page(["NEW"]))
    let program = try session.start("--quiet")
    session.gate.open()
    expectSuccess(try await program.end())
    #expect(session.screen(await session.terminal.end()).all == Self.table(["NEW"]))
  }

  @Test(arguments: [["ndjson"], ["csv"]])
  func recordsComeFromTheNewestSnapshot(format: [String]) async throws {
    let session = try await Session(answer: Self.page(["NEW"]))
    session.gate.open()
    let run = try await session.scratch.cachectl(Self.command + ["--output"] + format)
    expectSuccess(run)
    #expect(run.text.contains("NEW") && !run.text.contains("OLD"), "\(run.text)")
  }
}
