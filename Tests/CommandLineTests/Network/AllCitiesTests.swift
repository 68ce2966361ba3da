import Foundation
import TestOrigin
import Testing

/// `fetch cities --all`, when the origin is a server.
@Suite(.timeLimit(.minutes(30))) struct AllCitiesTests {
  private static let command = ["fetch", "cities", "--all", "--order", "name"]

  private func scratch(_ pages: CityPages, atOnce count: Int) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.configure(OriginSettings.cities(pages.server.url, more: #", "maxConcurrentRequests": \#(count)"#))
    return scratch
  }

  private func identifiers(_ run: Run) throws -> [String] { try run.documents().compactMap { $0["id"]?.text } }

  @Test(arguments: zip([1, 2, 7], Contract.persistentEngines))
  func pagesComeInOrderAndNoMoreAtOnceThanAllowed(atOnce count: Int, engine: String) async throws {
    let pages = try CityPages(9)
    let scratch = try scratch(pages, atOnce: count)
    let run = try await scratch.cachectl(["--backend", engine, "--output", "ndjson"] + Self.command)
    expectSuccess(run)
    #expect(try identifiers(run) == CityPages.identifiers(9))
    #expect(pages.requested == Array(0..<9))
    #expect(pages.server.highestConcurrency <= count)
    let again = try await scratch.cachectl(["--backend", engine, "--output", "json"] + Self.command).document()
    #expect(again["source"] == "cache" && again["items"]?.elements.count == 18 && again["totalPages"] == 9)
    #expect(pages.requested.count == 9, "All pages are cached")
  }

  @Test func theLimitOfConcurrentRequestsIsReached() async throws {
    let pages = try CityPages(9)
    pages.hold(1..<9)
    let scratch = try scratch(pages, atOnce: 3)
    let program = try RunningProgram(Binary.path, ["--output", "ndjson"] + Self.command, in: scratch)
    await pages.server.received(4)
    #expect(pages.requested == [0, 1, 2, 3])
    pages.release()
    let run = try await program.end()
    expectSuccess(run)
    #expect(try identifiers(run) == CityPages.identifiers(9))
    #expect(pages.server.highestConcurrency == 3)
  }

  @Test func aFailedWalkContinuesAtItsPosition() async throws {
    let engine = "sqlite"
    let pages = try CityPages(9)
    pages.setBroken([5])
    let scratch = try scratch(pages, atOnce: 1)
    let command = ["--backend", engine] + Self.command
    let failed = try await scratch.cachectl(command + ["--output", "csv"])
    #expect(failed.status == 69 && failed.errorLines.count == 1)
    #expect(
      failed.errors.contains("500") && failed.errors.contains("5 of 9 pages are in the cache"), "\(failed.errors)")
    #expect(failed.errors.contains("the same command continues"), "\(failed.errors)")
    #expect(CSVReader.records(failed.text)?.count == 11, "The pages before the failure are written")
    #expect(pages.requested == Array(0...5), "No page is requested after the failure")
    pages.setBroken([])
    pages.server.forgetRequests()
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    #expect(run.lines.count == 19)
    #expect(run.errors.contains("18 cities · 9 pages · 5 from cache (\(engine)), 4 from the origin"), "\(run.errors)")
    #expect(pages.requested == Array(5..<9))
  }

  @Test(arguments: [["--refresh"], ["--policy", "cached-then-network"]])
  func progressIsNamedForEveryPolicy(options: [String]) async throws {
    let pages = try CityPages(3)
    pages.setBroken([2])
    let run = try await scratch(pages, atOnce: 1).cachectl(Self.command + options)
    expectFailure(run, status: 69, mentioning: ["2 of 3 pages", "--policy cache-first continues"])
  }

  @Test(arguments: [("memory", "max-age=600"), ("sqlite", "no-store")])
  func responsesThatAreNotStoredAreNotReportedAsStored(engine: String, directives: String) async throws {
    let pages = try CityPages(3, caching: directives)
    pages.setBroken([2])
    let run = try await scratch(pages, atOnce: 1).cachectl(["--backend", engine] + Self.command)
    expectFailure(run, status: 69, mentioning: ["500"])
    #expect(!run.errors.contains("in the cache"))
  }

  @Test(arguments: Contract.inTurn([SIGINT, SIGTERM, SIGINT]))
  func anInterruptedWalkContinuesAtItsPosition(engine: String, signal: Int32) async throws {
    let pages = try CityPages(9)
    pages.hold(3..<9)
    let scratch = try scratch(pages, atOnce: 2)
    let command = ["--backend", engine] + Self.command
    let program = try RunningProgram(Binary.path, command, in: scratch)
    await pages.server.received(5)
    program.signal(signal)
    let interrupted = try await program.end()
    #expect(interrupted.status == 128 + signal && interrupted.output.isEmpty)
    #expect(interrupted.errors.contains("interrupted; 3 of 9 pages are in the cache"), "\(interrupted.errors)")
    await pages.server.abandoned(2)
    pages.hold([])
    pages.server.forgetRequests()
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    #expect(run.lines.count == 19 && pages.requested == Array(3..<9))
  }

  @Test(arguments: [(9, 12), (9, 6), (9, 1)])
  func theNumberOfPagesCanChangeMeanwhile(before: Int, after: Int) async throws {
    let pages = try CityPages(before)
    let scratch = try scratch(pages, atOnce: 2)
    expectSuccess(try await scratch.cachectl("fetch", "cities", "--order", "name"))
    pages.setCount(after)
    let document = try await scratch.cachectl(Self.command + ["--output", "json"]).document()
    let expected = CityPages.identifiers(after)
    #expect(document["items"]?.elements.compactMap { $0["id"]?.text } == expected)
    #expect(document["totalPages"] == .number(Double(after)) && document["totalItems"] == .number(Double(2 * after)))
  }

  @Test func recordsAreWrittenAsTheirPagesCome() async throws {
    let pages = try CityPages(3)
    pages.hold([2])
    let scratch = try scratch(pages, atOnce: 2)
    let terminal = try PseudoTerminal(columns: 80, rows: 24)
    let program = try RunningProgram(
      Binary.path, ["--output", "csv"] + Self.command, in: scratch, outputTo: terminal.path)
    await terminal.shows("1b")
    #expect(!terminal.text.contains("2a"))
    pages.release()
    expectSuccess(try await program.end())
    let lines = await terminal.end().split(separator: "\r\n").map { $0.prefix { $0 != "," } }
    #expect(lines == ["id"] + CityPages.identifiers(3).map { $0[...] })
  }

  @Test func aFailingOriginGetsNoRequestWhileStalePagesAreServed() async throws {
    let pages = try CityPages(9, caching: "max-age=0, stale-if-error=600")
    let scratch = try scratch(pages, atOnce: 2)
    expectSuccess(try await scratch.cachectl(Self.command))
    pages.setBroken(0..<9)
    pages.server.forgetRequests()
    let run = try await scratch.cachectl(Self.command + ["--output", "json"])
    expectSuccess(run)
    let document = try run.document()
    #expect(document["stale"] == true && document["source"] == "cache" && document["items"]?.elements.count == 18)
    #expect(run.errorLines.count == 1 && run.errors.contains("500"), "\(run.errors)")
    #expect(pages.requested == [0], "After its failure the origin gets no more requests")
  }

  @Test func theLimitEndsTheWalk() async throws {
    let pages = try CityPages(9)
    let run = try await scratch(pages, atOnce: 4).cachectl(Self.command + ["--limit", "5"])
    expectSuccess(run)
    #expect(run.lines.count == 6 && pages.requested == [0, 1, 2])
    #expect(run.errors.contains("First 5 of 18 cities · 3 of 9 pages"), "\(run.errors)")
  }

  @Test func progressIsShownOnATerminalAndFinallyRemoved() async throws {
    let pages = try CityPages(9)
    pages.hold([8])
    let scratch = try scratch(pages, atOnce: 1)
    let terminal = try PseudoTerminal(columns: 100, rows: 10)
    let program = try RunningProgram(
      Binary.path, ["--output", "csv"] + Self.command, in: scratch, environment: ["TERM": "xterm"],
      errorsTo: terminal.path)
    await terminal.shows("Fetching cities")
    pages.release()
    let run = try await program.end()
    expectSuccess(run)
    #expect(CSVReader.records(run.text)?.count == 19)
    let text = await terminal.end()
    #expect(text.contains("/9"), "\(text)")
    var screen = ScreenModel(columns: 100, rows: 10)
    screen.write(text)
    #expect(screen.visible.count == 1 && screen.problems.isEmpty)
    #expect(screen.visible.first?.hasPrefix("18 cities · 9 pages · from the origin") == true, "\(screen.visible)")
  }
}
