import Foundation
import Testing

/// Libraries that end the process, hang or forget: the report of a test of them, and the effects on other commands.
@Suite struct LibraryCrashTests {
  /// How long a check may take: more than the program needs to start, and its passing checks to end, on a busy machine.
  static let patience = "50s"

  private func test(_ fault: String, _ options: [String] = []) async throws -> (run: Run, document: JSON) {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    // Not through the turnstile: a library that hangs needs no processor, and would keep others waiting for theirs.
    let program = try RunningProgram(
      Binary.path, ["backends", "test", path, "--output", "json"] + options, in: scratch,
      environment: ["FAULT": fault])
    let run = try await program.end()
    #expect(scratch.names(below: "temporary").isEmpty, "The scratch stores are removed")
    #expect(!scratch.exists("home"), "It works on scratch stores only")
    return (run, try run.document())
  }

  private func failures(_ document: JSON) -> [JSON] {
    document["checks"]?.elements.filter { $0["result"] == "failed" } ?? []
  }

  @Test(arguments: [
    ("segmentation", "the engine ended the process: Segmentation fault"),
    ("abort", "the engine ended the process: Aborted"),
    ("exit", "the engine ended the process with status 3"), ("load", "the engine ended the process: Aborted"),
    ("hang", "the engine did not return within \(Self.patience)"),
  ])
  func theRunningCheckHasFailed(fault: String, message: String) async throws {
    let (run, document) = try await test(fault, ["--timeout", fault == "hang" ? Self.patience : "2m"])
    #expect(run.status == 1, "\(run.errors)")
    #expect(document["backend"] == "faulty" && document["failed"] == 1)
    #expect(failures(document).map { $0["message"] } == [.text(message)])
    let checks = try #require(document["checks"]?.elements)
    let place = try #require(checks.firstIndex { $0["result"] == "failed" })
    #expect((place == 0) == (fault == "load"), "Opening comes after the checks of what the engine declares")
    #expect(checks[..<place].allSatisfy { $0["result"] == "passed" })
    #expect(checks[(place + 1)...].allSatisfy { $0["result"] == "skipped" })
    #expect(document["skipped"]?.number == Double(checks.count - place - 1))
  }

  @Test func anEngineThatForgetsFails() async throws {
    let (run, document) = try await test("forget")
    #expect(run.status == 1)
    #expect(failures(document).count > 3 && document["passed"] != 0)
    #expect(!run.text.contains("ended the process"))
  }

  @Test func theOutputOfAnEngineIsNotAResult() async throws {
    let (run, document) = try await test("print", ["--seed", "7"])
    expectSuccess(run)
    #expect(document.names == ["backend", "checks", "failed", "passed", "skipped"])
    #expect(document["failed"] == 0 && document["passed"]?.number ?? 0 > 30, "\(run.text)")
    let skipped = document["checks"]?.elements.filter { $0["result"] == "skipped" } ?? []
    #expect(skipped.allSatisfy { $0["message"]?.text?.hasSuffix("-changes") == true }, "\(run.text)")
  }

  @Test func failuresStandFirst() async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let run = try await scratch.cachectl("backends", "test", path, environment: ["FAULT": "abort"])
    #expect(run.status == 1)
    #expect(run.lines.dropFirst().first?.hasPrefix("failed ") == true, "\(run.text)")
    #expect(run.errorLines.last?.contains("1 failed") == true, "\(run.errors)")
  }

  @Test(arguments: [("segmentation", SIGSEGV), ("abort", SIGABRT), ("load", SIGABRT)] as [(String, Int32)])
  func aCrashNamesTheLibrary(fault: String, signal: Int32) async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let run = try await scratch.cachectl("--backend", path, "ls", environment: ["FAULT": fault])
    #expect(run.status == 128 + signal)
    #expect(run.errorLines.first?.hasPrefix("cachectl: ") == true, "\(run.errors)")
    #expect(run.errors.contains("faulty (\(path))") && run.errors.contains("cachectl backends test"), "\(run.errors)")
  }

  @Test func aTestInThisProcessEndsWithTheEngine() async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let run = try await scratch.cachectl(
      "backends", "test", path, "--in-process", "--output", "ndjson", environment: ["FAULT": "abort"])
    #expect(run.status == 128 + SIGABRT)
    #expect(!run.lines.isEmpty && run.lines.allSatisfy { $0.contains(#""result":"passed""#) }, "\(run.text)")
  }
}
