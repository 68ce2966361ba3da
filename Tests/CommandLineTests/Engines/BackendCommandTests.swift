import Foundation
import Testing

/// `backends` with engines that are built in, and signals while it works.
@Suite struct BackendCommandTests {
  @Test func enginesAreListed() async throws {
    let scratch = try Scratch()
    let list = try await scratch.cachectl("backends", "list", "--output", "json").document().elements
    let names = Set(list.compactMap { $0["name"]?.text })
    #expect(names.isSuperset(of: Contract.engines))
    for backend in list {
      #expect(backend.names == ["builtIn", "capabilities", "name", "path", "summary", "version"])
      #expect(backend["builtIn"] == true && backend["path"] == .null)
    }
    #expect(try await scratch.cachectl("backends", "--output", "json").document().elements == list)
  }

  @Test func theEngineThatIsMadeOfTwoOthersIsNamed() async throws {
    let scratch = try Scratch()
    #expect(try await scratch.cachectl("backends").errors.contains("tiered: "))
    #expect(try await scratch.cachectl("__complete", "bash", "--backend", "t").text == "words\ntiered\n")
  }

  @Test(arguments: Contract.engines)
  func anEngineIsShown(engine: String) async throws {
    let document = try await Scratch().cachectl("backends", "show", engine, "--output", "json").document()
    #expect(document.names == ["builtIn", "capabilities", "name", "options", "path", "summary", "version"])
    for option in document["options"]?.elements ?? [] {
      #expect(option.names == ["default", "help", "name", "required", "secret", "type"])
    }
  }

  @Test func anUnknownEngineIsAnError() async throws {
    let run = try await Scratch().cachectl("backends", "show", "sqlit")
    #expect(run.status == 64)
    #expect(run.errors.contains("sqlite"))
  }

  @Test(arguments: ["show", "test"])
  func aMistakeInTheNameIsOneOfTheCommand(command: String) async throws {
    let run = try await Scratch().cachectl("backends", command, "./x.so")
    #expect(run.status != 0 && run.errors.hasPrefix("cachectl: backends \(command): "), "\(run.errors)")
  }

  @Test func theConformanceSuiteRuns() async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl("backends", "test", "memory", "--output", "json")
    expectSuccess(run)
    let document = try run.document()
    #expect(document.names == ["backend", "checks", "failed", "passed", "skipped"])
    #expect(document["failed"] == 0 && document["backend"] == "memory")
    for check in document["checks"]?.elements ?? [] { #expect(check.names == ["message", "name", "result"]) }
    #expect(scratch.names(below: "temporary").isEmpty)
    #expect(!scratch.exists("home"), "It works on scratch stores only")
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func aSignalEndsTheToolInOrder(signal: Int32, status: Int32) async throws {
    let scratch = try Scratch()
    let program = try RunningProgram(Binary.path, ["backends", "test", "sqlite"], in: scratch)
    await program.signal(signal, when: { !scratch.names(below: "temporary").isEmpty })
    let run = try await program.end()
    #expect(run.status == status, "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(scratch.names(below: "temporary").isEmpty, "The scratch stores are removed")
  }
}
