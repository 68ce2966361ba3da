import Foundation
import Testing

/// Every workload on every engine, with numbers so small that the figures mean nothing.
@Suite struct BenchSmokeTests {
  static let workloads = [
    "ycsb-a", "ycsb-b", "ycsb-c", "fill", "read", "typed", "full", "scan", "open",
  ]
  static let members = [
    "backend", "entries", "highestOperationsPerSecond", "hitRatio", "latencyMicroseconds", "lowestOperationsPerSecond",
    "operations", "operationsPerCall", "operationsPerSecond", "outcome", "peakMemoryBytes", "phase", "processorSeconds",
    "reason", "seconds",
    "storageBytes", "workload",
  ]

  @Test(arguments: workloads)
  func everyEngineDoesIt(workload: String) async throws {
    let scratch = try Scratch()
    let run = try await scratch.bench(workload, "--output", "json")
    expectSuccess(run)
    let document = try run.document()
    #expect(document.names == ["environment", "partial", "results"])
    #expect(document["partial"] == false && document["environment"]?["durability"] == "normal")
    let results = document["results"]?.elements ?? []
    #expect(Set(results.compactMap { $0["backend"]?.text }) == Set(Contract.engines))
    for result in results {
      #expect(result.names == Self.members)
      #expect(result["workload"]?.text == workload)
      guard result["outcome"] != "skipped" else {
        #expect(result["backend"] == "memory" && workload == "open", "\(result)")
        continue
      }
      #expect(result["outcome"] == "measured", "\(result)")
      #expect(result["operationsPerSecond"]?.number ?? 0 > 0, "\(result)")
      #expect((result["hitRatio"]?.number != nil) == (workload == "full" && result["phase"] == "run"), "\(result)")
      #expect(result["latencyMicroseconds"]?.names == ["max", "p50", "p90", "p99", "p999"])
    }
    scratch.expectNothingLeft()
  }

  @Test func severalSizesAndThreadsAreSeparateRows() async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl(
      "bench", "--backends", "sqlite,memory", "--workload", "read", "--entries", "10,20", "--operations", "50",
      "--threads", "3", "--rounds", "2", "--durability", "full", "--output", "ndjson")
    expectSuccess(run)
    let rows = try run.documents()
    #expect(rows.map { $0["entries"]?.number } == [10, 10, 20, 20])
    #expect(rows.allSatisfy { $0["operations"] == 100 && $0["p999Microseconds"]?.number ?? 0 > 0 }, "\(run.text)")
    let environment = try await scratch.bench("read", "--durability", "full", "--output", "json").document()
    #expect(environment["environment"]?["durability"] == "full")
  }

  @Test func aStoreIsFullUnderThePolicyThatIsNamed() async throws {
    let scratch = try Scratch()
    let run = try await scratch.bench("full", "--policy", "s3-fifo", "--backend", "memory", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["environment"]?["policy"] == "s3-fifo")
    let table = try await scratch.bench("full", "--policy", "s3-fifo", "--backend", "memory")
    #expect(table.text.contains("Hits") && table.text.contains("Longest"), "\(table.text)")
    #expect((table.text + table.errors).contains("policy s3-fifo"), "\(table.errors)")
  }

  @Test func theEngineOfTheFlagIsTheOnlyOne() async throws {
    let run = try await Scratch().bench("read", "--backend", "lmdb", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["results"]?.elements.map { $0["backend"] } == ["lmdb"])
  }

  @Test func anEngineMayBeALibrary() async throws {
    let scratch = try Scratch()
    let library = try scratch.install(EngineLibraries.folder, as: "folder")
    let run = try await scratch.bench("ycsb-a", "--backends", "\(library),memory", "--output", "json")
    expectSuccess(run)
    let results = try run.document()["results"]?.elements ?? []
    #expect(results.map { $0["backend"] } == ["folder", "memory", "folder", "memory"])
    #expect(results.allSatisfy { $0["outcome"] == "measured" }, "\(run.text)")
    scratch.expectNothingLeft()
  }

  @Test(arguments: [1, 2])
  func aWrongResultHasNoSpeed(processes: Int) async throws {
    let scratch = try Scratch()
    let library = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let arguments = [
      "bench", "--backends", "\(library),sqlite", "--workload", "read", "--entries", "20", "--operations", "20",
      "--rounds", "2", "--processes", "\(processes)",
    ]
    let environment = ["FAULT": "forget"]
    let run = try await scratch.cachectl(arguments + ["--output", "json"], environment: environment)
    #expect(run.status == 1, "\(run.errors)")
    let results = try run.document()["results"]?.elements ?? []
    #expect(results.map { $0["outcome"] } == ["wrong", "measured"], "\(run.text)")
    #expect(results[0]["operationsPerSecond"] == .null && results[0]["reason"]?.text?.isEmpty == false)
    let table = try await scratch.cachectl(arguments, environment: environment)
    #expect(table.status == 1)
    #expect(table.text.contains("wrong: read by faulty: ") && table.errors.contains("1 result is wrong or failed"))
    scratch.expectNothingLeft()
  }

  @Test func severalProcessesShareAStore() async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl(
      "bench", "--workload", "ycsb-a", "--workload", "typed", "--processes", "3", "--entries", "20", "--operations",
      "20", "--rounds", "2", "--output", "json")
    expectSuccess(run)
    let results = try run.document()["results"]?.elements ?? []
    for result in results where result["phase"] == "run" && result["backend"] != "memory" {
      #expect(result["operations"] == 120, "Three processes, two rounds of 20: \(result)")
    }
    #expect(results.filter { $0["outcome"] == "skipped" }.allSatisfy { $0["backend"] == "memory" }, "\(run.text)")
    #expect(try run.document()["environment"]?["processes"] == 3)
    scratch.expectNothingLeft()
  }

  @Test func optionsOfTheConfigurationCount() async throws {
    let scratch = try Scratch()
    try scratch.write(
      #"{"backends": {"lmdb": {"path": "real", "mapSize": "1MiB"}, "sqlite": {"path": "real.sqlite"}}}"#,
      to: "config.json")
    let run = try await scratch.cachectl(
      "bench", "--config", scratch.path("config.json"), "--backends", "lmdb,sqlite", "--workload", "ycsb-c",
      "--entries",
      "10", "--operations", "10", "--rounds", "1")
    expectSuccess(run)
    scratch.expectNothingLeft()
  }
}

extension Scratch {
  /// Runs a workload on every engine, small and short.
  func bench(_ workload: String, rounds: Int = 1, _ more: String...) async throws -> Run {
    let arguments = [
      "bench", "--workload", workload, "--entries", "20", "--operations", "20", "--value-size", "64", "--rounds",
      "\(rounds)",
    ]
    return try await cachectl(arguments + more)
  }

  /// Checks that no store, and nothing else, was left or made.
  func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(names(below: "temporary").isEmpty, sourceLocation: sourceLocation)
    #expect(!exists("home"), "It works on scratch stores only", sourceLocation: sourceLocation)
  }
}
