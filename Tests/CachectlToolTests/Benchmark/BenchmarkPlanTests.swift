import CachePresentation
import EngineAPI
import FetchVocabulary
import Foundation
import TestStorage
import Testing
@testable import CacheConfiguration
@testable import CachectlTool
@testable import EngineBenchmark

/// Benchmarks through the composition root.
struct BenchmarkPlanTests {
  /// A small plan in a scratch folder of `home`.
  private func plan(
    _ home: TestHome, _ workloads: String..., backends: [String] = [], container: AppDIContainer? = nil
  ) throws -> BenchmarkPlan {
    var options = BenchmarkOptions()
    (options.entries, options.operations, options.rounds) = ([20], 30, 1)
    (options.scratchFolder, options.runName) = (home.folder + "/scratch", "bench-test")
    try FileManager.default.createDirectory(atPath: options.scratchFolder, withIntermediateDirectories: true)
    return try BenchmarkPlan(
      container ?? home.container(backend: "memory"), backends: backends,
      workloads: workloads.compactMap { WorkloadCatalogue.workload(named: $0) }, options: options)
  }

  @Test(arguments: ["typed", "full"]) func entriesOfTheCacheAreMeasuredOnEveryEngine(workload: String) async throws {
    let plan = try plan(try TestHome(), workload)
    let report = try await plan.run { _ in }
    #expect(report.isComplete && !report.hasFailure)
    let results = report.results
    #expect(results.allSatisfy { $0.measurement != nil }, "\(results)")
    #expect(Set(results.map(\.row.backend)) == Set(Backends.all) && plan.controls == ["memory"])
  }

  @Test func aFullStoreServesSomeReads() async throws {
    let home = try TestHome()
    let results = try await plan(home, "full").run { _ in }.results
    #expect(results.filter { $0.row.phase == "load" }.allSatisfy { $0.measurement?.hitRatio == nil })
    for result in results where result.row.phase == "run" {
      let ratio = try #require(result.measurement?.hitRatio)
      #expect(ratio > 0 && ratio < 1, "\(result)")
    }
  }

  /// Without a policy that evicts, a write that exceeds the limit is refused.
  @Test func thePolicyIsTheConfiguredOne() async throws {
    let home = try TestHome()
    let container = try home.container(#"{"cache": {"eviction": "none"}}"#)
    let report = try await plan(home, "full", backends: ["memory"], container: container).run { _ in }
    #expect(report.environment["policy"] == "none")
    #expect(report.results.contains { $0.isFailure }, "\(report.results)")
  }

  @Test(arguments: ["typed", "full", "ycsb-a"]) func anEngineThatKeepsNothingIsFoundOut(workload: String) async throws {
    let home = try TestHome()
    var behaviour = FakePlugin.Behaviour()
    behaviour.faults.entry = { _, _ in nil }
    let plugin = FakePlugin("forgetful", capabilities: [.ordered, .bounded, .atomicBatches], behaviour)
    let container = try home.container("{}", catalogue: PluginCatalogue([plugin]))
    let report = try await plan(home, workload, backends: ["forgetful"], container: container).run { _ in }
    #expect(report.hasFailure)
    let result = try #require(report.results.first)
    #expect(result.outcome.name == "wrong" && result.outcome.reason != nil, "\(result)")
  }

  @Test(arguments: [
    ([EngineOption("prefix", .storeName, default: .text("main"), help: "a name")], true),
    ([EngineOption("path", .path, default: .text("x"), help: "a path")], false), ([], false),
  ])
  func enginesOnServersAreNamed(options: [EngineOption], isOnServer: Bool) throws {
    let home = try TestHome()
    let plugin = FakePlugin("fake", options: options)
    let container = try home.container("{}", catalogue: PluginCatalogue([plugin]))
    let warning = try plan(home, "read", backends: ["fake"], container: container).serverWarning
    #expect(warning?.text.contains("measures fake on the server") ?? false == isOnServer)
  }

  @Test func unknownEnginesAreErrors() throws {
    let home = try TestHome()
    let error = #expect(throws: CacheError.self) { try plan(home, "read", backends: ["none"]) }
    #expect(error?.code.rawValue == "unknownBackend")
  }

  @Test func sharesMakeOneReport() async throws {
    var plan = try plan(try TestHome(), "ycsb-a", "full", backends: ["sqlite"])
    plan.options.processes = 2
    var reports: [BenchmarkReport] = []
    for index in 0..<2 {
      plan.options.process = index
      reports.append(try await plan.run { _ in })
    }
    let results = try #require(BenchmarkReport.merging(reports)).results
    #expect(results.count == 4 && results.allSatisfy { $0.measurement != nil }, "\(results)")
    #expect(results.first { $0.row.phase == "run" }?.measurement?.operations == 60)
  }
}

/// The records of the workload `typed`.
struct BenchmarkPagesTests {
  @Test func moviesAreReadAsTheyWereWritten() async throws {
    let payload = try await MoviePages.payload()
    for number in [0, 1, MoviePages.count - 1, MoviePages.count, 1_000_003] {
      let bytes = try payload.encode(number)
      #expect(bytes.count > 2_000)
      #expect(try payload.isRight(number, bytes.span))
      #expect(try payload.encode(number) == bytes)
    }
    let other = try payload.encode(1)
    #expect(try !payload.isRight(0, other.span))
    let cut = Array(other.dropLast())
    #expect(throws: CacheError.self) { try payload.isRight(1, cut.span) }
  }
}

/// The messages between the processes of one benchmark.
struct BenchmarkMessageTests {
  @Test func progressArrivesUnchanged() {
    let progress = BenchmarkProgress(phase: 3, total: 40, item: "lmdb, ycsb-b run, round 2 of 5")
    #expect(progress.line.last == "\n")
    #expect(BenchmarkProgress(line: Array(progress.line.dropLast().utf8)) == progress)
  }

  @Test(arguments: ["", "hello", "1\t2", "x\t2\titem", "1\tx\titem", "1\t2\titem\t3"])
  func anythingElseIsNone(line: String) { #expect(BenchmarkProgress(line: Array(line.utf8)) == nil) }

  @Test func aShareIsPassedOn() {
    var (options, others) = (BenchmarkOptions(), BenchmarkOptions())
    (options.scratchFolder, options.runName) = ("/scratch of/this run", "bench-1f")
    (options.date, options.process) = (Timestamp(milliseconds: 1_700_000_000_123), 2)
    others.processes = 3
    let hasJoined = others.join(options.shareText)
    #expect(hasJoined && others.process == 2 && others.scratchFolder == options.scratchFolder)
    #expect(others.runName == "bench-1f" && others.date == options.date)
  }

  @Test(arguments: ["", "0 1 x", "3 1 x /s", "-1 1 x /s", "0 x bench /s", "a 1 x /s"])
  func anythingElseIsNotAShare(text: String) {
    var options = BenchmarkOptions()
    options.processes = 3
    let hasJoined = options.join(text)
    #expect(!hasJoined && options.runName.isEmpty)
  }
}
