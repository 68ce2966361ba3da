import Foundation
import Testing

/// `doctor`.
@Suite struct DoctorTests {
  private func checks(_ run: Run, _ name: String) throws -> [JSON] {
    try run.document()["checks"]?.elements.filter { $0["name"] == .text(name) } ?? []
  }

  @Test func aNewMachineHasNoProblemsAndIsNotChanged() async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl("doctor", "--output", "json")
    expectSuccess(run)
    #expect(run.errors.isEmpty)
    let document = try run.document()
    #expect(document.names == ["checks", "ok", "problems", "warnings"])
    #expect(document["problems"] == 0)
    let names = Set(document["checks"]?.elements.compactMap { $0["name"]?.text } ?? [])
    #expect(names.isSuperset(of: ["configuration", "home", "plugins", "space", "clock"] + Contract.engines))
    for check in document["checks"]?.elements ?? [] {
      #expect(check.names == ["hint", "message", "name", "result"])
      if check["result"] != "ok" { #expect(check["hint"]?.text?.isEmpty == false, "\(check)") }
    }
    #expect(!scratch.exists("home"), "nothing is made")
  }

  @Test(arguments: Contract.persistentEngines)
  func aStoreIsExaminedAndNotChanged(engine: String) async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "cities"))
    let names = scratch.names(below: "home")
    let run = try await scratch.cachectl("doctor", "--output", "json")
    expectSuccess(run)
    let found = try checks(run, engine)
    #expect(found.allSatisfy { $0["result"] == "ok" }, "\(found)")
    #expect(found.contains { $0["message"]?.text?.contains("1 entry") == true }, "\(found)")
    for other in Contract.persistentEngines where other != engine {
      #expect(try checks(run, other).map { $0["result"] } == ["ok"])
    }
    #expect(Set(names).isSubset(of: scratch.names(below: "home")))
    #expect(
      try await scratch.cachectl("--backend", engine, "ls", "--output", "json").document()["entries"]?.elements
        .count == 1)
  }

  @Test func aHomeThatOthersMayChangeIsRefused() async throws {
    let scratch = try Scratch()
    try scratch.makeFolder("home")
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.home)
    let run = try await scratch.cachectl("doctor")
    #expect(run.status == 77)
    #expect(run.text.contains("problem") && run.text.contains("chmod go-w \(scratch.home)"))
    #expect(run.errors.hasPrefix("1 problem"))
  }

  @Test func everyMistakeOfTheConfigurationIsListed() async throws {
    let scratch = try Scratch()
    try scratch.configure(text: #"{"bakend": "lmdb", "cache": {"maxEntries": "many"}}"#)
    let run = try await scratch.cachectl("doctor", "--output", "json")
    #expect(run.status == 78)
    let problems = try checks(run, "configuration")
    #expect(problems.count == 2 && problems.allSatisfy { $0["result"] == "problem" })
    #expect(problems.first?["message"]?.text?.contains("config.json:1:2") == true, "\(problems)")
  }

  @Test(arguments: [["--backend", "nosuch"], ["--config", "none.json"]])
  func aFlagThatIsWrongIsAMistakeOfTheCommandLine(flags: [String]) async throws {
    expectFailure(try await Scratch().cachectl(flags + ["doctor"]), status: 64)
  }

  @Test func aHomeThatCannotBeMadeIsAProblem() async throws {
    let scratch = try Scratch()
    try scratch.write("a file", to: "file")
    let run = try await scratch.cachectl("--home", scratch.path("file/home"), "doctor")
    #expect(run.status == 73, "\(run.text)")
  }
}
