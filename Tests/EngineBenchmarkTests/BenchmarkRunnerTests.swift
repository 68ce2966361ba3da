import Foundation
import MemoryStorage
import EngineAPI
import Synchronization
import Testing

@testable import EngineBenchmark

struct BenchmarkRunnerTests {
  /// Every built-in workload, small, over a correct engine.
  @Test(arguments: WorkloadCatalogue.names, [1, 3])
  func everyWorkloadRuns(name: String, threads: Int) async throws {
    let workload = try #require(WorkloadCatalogue.workload(named: name))
    let options = Fixtures.options {
      ($0.entries, $0.operations, $0.threads) = ([60], 120, threads)
    }
    let report = try await Fixtures.run(
      [TestPlugin(), MemoryPlugin()], [workload], options, actions: Fixtures.actions)
    #expect(report.isComplete && !report.hasFailure, "\(report.results.map(\.outcome))")
    #expect(report.results.count == workload.phases.count { $0.isMeasured } * 2)
    for result in report.results {
      if name == "open", result.row.backend == "memory" {
        #expect(result.outcome == .skipped("keeps nothing when it is closed"))
        continue
      }
      let measurement = try #require(result.measurement, "\(result)")
      #expect(measurement.rounds.count == 2 && measurement.operations > 0 && measurement.seconds > 0)
      #expect(
        measurement.latencies.count > 0 && measurement.latencies.maximum >= measurement.latencies.percentile(99.9))
    }
  }

  @Test func operationsAreCountedEntryByEntry() async throws {
    let fill = try #require(WorkloadCatalogue.workload(named: "fill"))
    let options = Fixtures.options { $0.entries = [1_500] }
    let report = try await Fixtures.run([TestPlugin()], [fill], options)
    let (single, batches) = (report.results[0], report.results[1])
    #expect(single.row.phase == "single" && batches.row.phase == "batches")
    #expect(single.measurement?.operations == 3_000 && single.measurement?.latencies.count == 3_000)
    #expect(batches.measurement?.operations == 3_000 && batches.measurement?.latencies.count == 4)
  }

  @Test func enginesTakeTurnsAndGetTheSameDurability() async throws {
    let (first, second) = (TestPlugin("first"), TestPlugin("second"))
    let workload = Fixtures.workload(entries: 3, count: 2)
    let turns = Mutex<[String]>([])
    let options = Fixtures.options { ($0.rounds, $0.warmUpRounds, $0.durability) = (2, 1, .full) }
    let report = try await BenchmarkRunner(
      subjects: [first, second].map { BenchmarkSubject(plugin: $0, values: ["path": .text("/home/precious")]) },
      workloads: [workload], options: options,
      begin: { one in turns.withLock { $0.append(one.item) } }
    ).run()
    #expect(
      turns.withLock { $0 } == [
        "first, own load, warming up", "first, own run, warming up", "second, own load, warming up",
        "second, own run, warming up", "first, own load, round 1 of 2", "first, own run, round 1 of 2",
        "second, own load, round 1 of 2", "second, own run, round 1 of 2", "first, own load, round 2 of 2",
        "first, own run, round 2 of 2", "second, own load, round 2 of 2", "second, own run, round 2 of 2",
      ])
    let opens = (first.log.all + second.log.all).filter { $0.contains(" open ") }
    #expect(opens.count == 6 && Set(opens).count == 6)
    #expect(opens.allSatisfy { $0.contains(" open full /nowhere/bench-test-") })
    #expect(first.log.all.count { $0.hasSuffix("close") } == 3)
    #expect(report.environment["durability"] == "full")
    #expect(report.environment["engines"] == ["first": "2.5", "second": "2.5"])
    #expect(report.results[0].measurement?.rounds.count == 2)
  }

  /// The phases of an engine that failed are passed over.
  @Test func phasesAreNumbered() async throws {
    let told = Mutex<[BenchmarkProgress]>([])
    _ = try await Fixtures.run(
      [TestPlugin(), TestPlugin("broken", fault: .failsToRead)], [Fixtures.workload()],
      begin: { one in told.withLock { $0.append(one) } })
    let all = told.withLock { $0 }
    #expect(all.map(\.phase) == [0, 1, 2, 4, 5] && all.allSatisfy { $0.total == 8 })
  }

  @Test func theSameSeedGivesEveryEngineTheSameOperations() async throws {
    func reads(_ seed: UInt64) async throws -> [[String]] {
      let plugins = [TestPlugin("first"), TestPlugin("second")]
      let workload = Fixtures.workload(.read(updates: 0.3))
      _ = try await Fixtures.run(plugins, [workload], Fixtures.options { ($0.seed, $0.rounds) = (seed, 1) })
      return plugins.map(\.reads.all)
    }
    let first = try await reads(1)
    #expect(first[0] == first[1] && first[0].count > 100)
    #expect(try await reads(1) == first)
    #expect(try await reads(2) != first)
  }

  @Test(
    arguments: [
      { $0.threads = 0 }, { $0.threads = 257 }, { $0.rounds = 0 }, { $0.warmUpRounds = -1 }, { $0.entries = [0] },
      { $0.operations = 0 }, { $0.valueSize = -1 }, { $0.valueSize = 100_000_000 }, { $0.processes = 33 },
      { $0.process = 1 },
    ] as [@Sendable (inout BenchmarkOptions) -> Void])
  func optionsOutOfRangeAreRefused(change: @Sendable (inout BenchmarkOptions) -> Void) async throws {
    let workload = Fixtures.workload()
    let error = await #expect(throws: CacheError.self) {
      try await Fixtures.run([TestPlugin()], [workload], Fixtures.options(change))
    }
    #expect(error?.code == .invalidOption)
  }

  @Test func valuesThatAnEngineDoesNotTakeAreRefused() async throws {
    let workload = Fixtures.workload()
    let subject = BenchmarkSubject(plugin: TestPlugin(), values: ["colour": .text("red")])
    let error = await #expect(throws: CacheError.self) {
      try await BenchmarkRunner(subjects: [subject], workloads: [workload], options: Fixtures.options()).run()
    }
    #expect(error?.code == .invalidOption)
  }

  @Test func aFailingEngineIsReportedAndTheOthersContinue() async throws {
    let plugins = [
      TestPlugin("away", fault: .failsToOpen), TestPlugin("broken", fault: .failsToRead), TestPlugin("fine"),
    ]
    let report = try await Fixtures.run(plugins, [Fixtures.workload()])
    #expect(report.isComplete && report.hasFailure && report.results.count == 6)
    #expect(report.results[0].outcome == .failed("unreachable: the server is away"))
    #expect(report.results[1].outcome == .failed("ioFailed: the disk is gone"))
    #expect(report.results[5].measurement?.rounds.count == 2)
  }

  @Test func anEngineThatClaimsToBeCancelledFails() async throws {
    let plugins = [TestPlugin(fault: .claimsCancellation), TestPlugin("fine")]
    let report = try await Fixtures.run(plugins, [Fixtures.workload()])
    #expect(report.isComplete && report.results[3].measurement != nil)
    #expect(report.results[0].outcome == .failed("the engine says that a call was cancelled, which it was not"))
  }

  @Test func workloadsWithoutTheirActionsAreSkipped() async throws {
    let workloads = ["typed", "full"].compactMap { WorkloadCatalogue.workload(named: $0) }
    let report = try await Fixtures.run([TestPlugin()], workloads)
    #expect(
      report.results.map(\.outcome.reason) == [
        "no records to decode", "no cache to read through", "no cache to read through",
      ])
    #expect(!report.hasFailure && report.isComplete)
  }

  @Test func eachNumberOfEntriesHasItsRows() async throws {
    let workload = Fixtures.workload()
    let report = try await Fixtures.run([TestPlugin()], [workload], Fixtures.options { $0.entries = [10, 20] })
    #expect(report.results.map(\.row.entries) == [10, 10, 20, 20])
    #expect(report.results.map(\.measurement?.operations) == [20, 400, 40, 400])
  }

  @Test func storesAreRemoved() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appending(path: "bench-test-0/path")
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    let workload = Fixtures.workload()
    _ = try await Fixtures.run([TestPlugin()], [workload], Fixtures.options(folder: folder.path) { $0.rounds = 1 })
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func memoryIsTheIncreaseDuringTheRun() async throws {
    let workload = Fixtures.workload()
    let report = try await Fixtures.run([TestPlugin()], [workload], probe: TestClock(step: 10).probe)
    #expect(report.results[0].measurement?.peakMemoryBytes == 500_000)
    #expect(report.results[0].measurement?.storageBytes == 4_096)
  }
}
