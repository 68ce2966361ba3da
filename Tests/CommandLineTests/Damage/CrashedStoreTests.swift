import Foundation
import TestOrigin
import Testing

/// A store whose damaged pages end the process that reads them: one line, a mark, and an empty store next time.
@Suite struct CrashedStoreTests {
  private static let mark = "home/lmdb.crashed"
  private static let lmdb = ["--backend", "lmdb"]

  private func filledStore() async throws -> Scratch {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["fetch", "cities"]))
    return scratch
  }

  /// A store of which only the two pages are intact that LMDB checks, and the heads of the others: the keys of each page
  /// seem to be beyond the end of the file.
  private func damagedStore() async throws -> Scratch {
    let scratch = try await filledStore()
    var data = try scratch.read("home/lmdb/data.mdb")
    for start in stride(from: 8_192, to: data.count, by: 4_096) {
      let content = start + 16..<min(start + 4_096, data.count)
      data.replaceSubrange(content, with: repeatElement(0xFF, count: content.count))
    }
    // In place: the folder keeps its files.
    let file = FileHandle(forUpdatingAtPath: scratch.path("home/lmdb/data.mdb"))
    try file?.write(contentsOf: data)
    try file?.close()
    return scratch
  }

  private func crashedStore() async throws -> Scratch {
    let scratch = try await damagedStore()
    expectCrash(try await scratch.cachectl(Self.lmdb + ["ls"]), scratch)
    return scratch
  }

  private func expectCrash(
    _ run: Run, _ scratch: Scratch, isMarked: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let words = ["\(scratch.path("home/lmdb")) is damaged", "cachectl --backend lmdb verify --repair"]
    #expect(run.status == 65, "\(run.errors)", sourceLocation: sourceLocation)
    for word in words { #expect(run.errors.contains(word), "\(run.errors)", sourceLocation: sourceLocation) }
    #expect(run.errors.hasPrefix("cachectl: "), "\(run.errors)", sourceLocation: sourceLocation)
    #expect(run.errorLines.count <= 2, "\(run.errors)", sourceLocation: sourceLocation)
    #expect(scratch.exists(Self.mark) == isMarked, sourceLocation: sourceLocation)
  }

  private func movedStores(_ scratch: Scratch) -> [String] {
    scratch.names(below: "home").filter { $0.hasPrefix("lmdb.damaged-") && !$0.contains("/") }
  }

  @Test(arguments: [
    ["ls"], ["show", Contract.citiesKey], ["fetch", "cities"], ["stats"], ["rm", Contract.citiesKey],
  ])
  func theProcessEndsWithOneLineAndLeavesAMark(command: [String]) async throws {
    let scratch = try await damagedStore()
    let before = try scratch.read("home/lmdb/data.mdb")
    expectCrash(try await scratch.cachectl(Self.lmdb + command), scratch)
    #expect(try scratch.read("home/lmdb/data.mdb") == before)
  }

  /// One byte says of the namespace's name that it has several values: LMDB follows a null pointer.
  @Test func aPointerThatDamageLeadsElsewhereIsDamage() async throws {
    let scratch = try await filledStore()
    var data = try scratch.read("home/lmdb/data.mdb")
    // The length of the name comes before it, and flags before that.
    let name = try #require(data.range(of: Data([6, 0] + Array("cities".utf8))))
    data[name.lowerBound - 2] ^= 0x1C
    let file = FileHandle(forUpdatingAtPath: scratch.path("home/lmdb/data.mdb"))
    try file?.write(contentsOf: data)
    try file?.close()
    expectCrash(try await scratch.cachectl(Self.lmdb + ["ls"]), scratch)
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["rm", "--all", "--yes"]))
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["verify"]))
  }

  @Test func withJSONTheLineIsADocument() async throws {
    let scratch = try await damagedStore()
    let run = try await scratch.cachectl(Self.lmdb + ["ls", "--output", "json"])
    let error = try JSON(Data(run.errors.utf8))["error"]
    #expect(run.status == 65 && error?["code"] == "damaged")
    #expect(error?["message"] == .text("the store \(scratch.path("home/lmdb")) is damaged"))
  }

  @Test func aFetchMovesTheStoreAsideAndBeginsWithAnEmptyOne() async throws {
    let scratch = try await crashedStore()
    let damaged = try scratch.read("home/lmdb/data.mdb")
    let fetch = Self.lmdb + ["fetch", "cities", "--output", "json"]
    let run = try await scratch.cachectl(fetch)
    expectSuccess(run)
    #expect(try run.document()["source"] == "origin")
    let moved = try #require(movedStores(scratch).first)
    #expect(run.errorLines.count == 1 && run.errors.contains(moved), "\(run.errors)")
    #expect(try scratch.read("home/\(moved)/data.mdb") == damaged)
    #expect(!scratch.exists(Self.mark))
    // The warning comes once, and the new store is as any.
    let again = try await scratch.cachectl(fetch)
    #expect(try again.document()["source"] == "cache" && again.errors.isEmpty, "\(again.errors)")
    #expect(movedStores(scratch) == [moved])
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["verify"]))
  }

  @Test func theHintLeadsToTheReadableEntries() async throws {
    let scratch = try Scratch()
    let environment = [
      "CACHECTL_LMDB_PATH": scratch.path("it's a store"),
      "PATH": "\((Binary.path as NSString).deletingLastPathComponent):/usr/bin:/bin",
    ]
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["fetch", "cities"], environment: environment))
    try scratch.write("", to: "it's a store.crashed")
    let run = try await scratch.cachectl(Self.lmdb + ["ls", "--output", "ndjson"], environment: environment)
    let commands = try #require(run.errors.components(separatedBy: " with: ").last, "\(run.errors)")
    #expect(run.output.isEmpty)
    expectSuccess(try await scratch.run("/bin/sh", ["-c", commands], environment: environment))
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["show", Contract.citiesKey], environment: environment))
  }

  @Test(arguments: [["ls"], ["stats"], ["compact"]])
  func otherCommandsBeginWithAnEmptyStoreToo(command: [String]) async throws {
    let scratch = try await crashedStore()
    let run = try await scratch.cachectl(Self.lmdb + command)
    expectSuccess(run)
    #expect(run.errors.contains("lmdb.damaged-") && movedStores(scratch).count == 1, "\(run.errors)")
    #expect(try await scratch.cachectl(Self.lmdb + ["ls", "--output", "json"]).document()["entries"]?.elements == [])
  }

  /// The server responds when the gate opens: until then the fetch has the store open.
  @Test func aStoreOpenInAnotherProcessStaysInPlace() async throws {
    let scratch = try await filledStore()
    let gate = try TestGate()
    let server = try TestServer { _ in TestResponse("late").held(by: gate) }
    let holder = try RunningProgram(Binary.path, Self.lmdb + ["fetch", "url", "\(server.url)/late"], in: scratch)
    await server.received(1)
    try scratch.write("", to: Self.mark)
    let fetch = Self.lmdb + ["fetch", "cities", "--output", "json"]
    for command in [["ls"], ["rm", "--all", "--yes"]] {
      let busy = try await scratch.cachectl(Self.lmdb + command)
      #expect(busy.status == 75, "\(busy.errors)")
    }
    let run = try await scratch.cachectl(fetch)
    expectSuccess(run)
    #expect(try run.document()["source"] == "origin")
    #expect(!run.errors.isEmpty && scratch.exists(Self.mark) && movedStores(scratch).isEmpty)
    gate.open()
    expectSuccess(try await holder.end())
    expectSuccess(try await scratch.cachectl(fetch))
    #expect(!scratch.exists(Self.mark) && movedStores(scratch).count == 1)
  }

  @Test func aRemovalOfEverythingDeletesTheStoreAndTheMark() async throws {
    let scratch = try await crashedStore()
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["rm", "--all", "--yes"]))
    #expect(!scratch.exists(Self.mark) && movedStores(scratch).isEmpty)
    let list = try await scratch.cachectl(Self.lmdb + ["ls", "--output", "json"])
    #expect(try list.document()["entries"]?.elements == [] && list.errors.isEmpty, "\(list.errors)")
  }

  /// The removal and repair of a damaged store do not stop after the process that meets the damage has crashed.
  @Test func aRemovalOfEverythingAndARepairDoTheirWorkAtOnce() async throws {
    let removed = try await damagedStore()
    expectSuccess(try await removed.cachectl(Self.lmdb + ["rm", "--all", "--yes"]))
    #expect(!removed.exists(Self.mark) && movedStores(removed).isEmpty)
    #expect(try await removed.cachectl(Self.lmdb + ["ls", "--output", "json"]).document()["entries"]?.elements == [])

    let repaired = try await damagedStore()
    let repair = try await repaired.cachectl(Self.lmdb + ["verify", "--repair", "--output", "json"])
    #expect(repair.status == 65)
    let moved = try #require(try repair.document()["repair"]?["movedTo"]?.elements.first?.text, "\(repair)")
    #expect(moved.contains("lmdb.damaged-") && movedStores(repaired).count == 1)
    #expect(!repaired.exists(Self.mark))
    expectSuccess(try await repaired.cachectl(Self.lmdb + ["verify"]))
  }

  /// A file with content is not a mark. A removal works without one.
  @Test func aFileOfSomeoneElseIsNotAMark() async throws {
    let intact = try await filledStore()
    try intact.write("mine", to: Self.mark)
    let fetch = try await intact.cachectl(Self.lmdb + ["fetch", "cities", "--output", "json"])
    #expect(try fetch.document()["source"] == "cache" && movedStores(intact).isEmpty)

    let damaged = try await damagedStore()
    try damaged.write("mine", to: Self.mark)
    expectSuccess(try await damaged.cachectl(Self.lmdb + ["rm", "--all", "--yes"]))
    #expect(try await damaged.cachectl(Self.lmdb + ["ls", "--output", "json"]).document()["entries"]?.elements == [])
    for scratch in [intact, damaged] { #expect(try scratch.read(Self.mark) == Data("mine".utf8)) }
  }

  /// No command may lose entries that a repair could still save.
  @Test(arguments: [
    ["doctor"], ["verify"], ["verify", "--output", "json"], ["rm", "--all", "--dry-run"],
    ["migrate", "--from", "lmdb", "--to", "plist", "--dry-run"],
  ])
  func aCheckLeavesTheStoreInPlace(command: [String]) async throws {
    let scratch = try await crashedStore()
    let run = try await scratch.cachectl(Self.lmdb + command)
    #expect(run.status == 65 && (run.text + run.errors).contains("lmdb.crashed"), "\(run.text)\(run.errors)")
    #expect(scratch.exists(Self.mark) && movedStores(scratch).isEmpty)
  }

  @Test func completionLeavesTheStoreUnchanged() async throws {
    let scratch = try await crashedStore()
    let run = try await scratch.cachectl("__complete", "fish", "--backend", "lmdb", "show", "ci")
    #expect(["", "words\n"].contains(run.text) && run.errors.isEmpty)
    #expect(scratch.exists(Self.mark) && movedStores(scratch).isEmpty)
  }

  /// A crash for any other reason stays one, even while a store is open.
  @Test(arguments: [SIGSEGV, SIGBUS, SIGABRT]) func anotherCrashIsADefect(signal: Int32) async throws {
    let scratch = try await filledStore()
    let gate = try TestGate()
    let server = try TestServer { _ in TestResponse("late").held(by: gate) }
    let program = try RunningProgram(Binary.path, Self.lmdb + ["fetch", "url", "\(server.url)/late"], in: scratch)
    await server.received(1)
    program.signal(signal)
    #expect(try await program.end().status == 128 + signal)
    gate.open()
    #expect(!scratch.exists(Self.mark))
    expectSuccess(try await scratch.cachectl(Self.lmdb + ["verify"]))
  }
}
