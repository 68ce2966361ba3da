import Foundation
import EngineAPI
import Synchronization
import Testing

@testable import EngineBenchmark

/// Cancellation, threads and processes.
struct BenchmarkRunTests {
  @Test func aCancelledRunHasTheResultsSoFar() async throws {
    let plugin = TestPlugin()
    let task = Mutex<Task<BenchmarkReport, any Error>?>(nil)
    let gate = AsyncStream<Void>.makeStream()
    let workloads = [
      Fixtures.workload(), Fixtures.workload(.read(updates: 1)),
    ]
    let started = Task {
      for await _ in gate.stream {}
      return try await Fixtures.run(
        [plugin], workloads, Fixtures.options { $0.rounds = 3 },
        begin: { one in
          if one.phase == 3 { task.withLock { $0?.cancel() } }
        })
    }
    task.withLock { $0 = started }
    gate.continuation.finish()
    let report = try await started.value
    #expect(!report.isComplete && !report.hasFailure)
    // One complete round was done; the second was cancelled before its reads.
    #expect(report.results.map { $0.measurement?.rounds.count } == [1, 1])
    #expect(plugin.log.all.count { $0.contains(" open ") } == plugin.log.all.count { $0.hasSuffix("close") })
    let cancelled = report.json
    #expect(try BenchmarkReport(json: cancelled, file: "r").isComplete == false)
  }

  @Test func workersHaveSeparateThreads() async throws {
    // More workers than the machine has processors block at once, each until all are there: on a pool they would never
    // all be there.
    let count = 24
    let threads = try (0..<count).map { _ throws(CacheError) in try WorkerThread() }
    defer { for thread in threads { thread.stop() } }
    let (arrived, everyone) = (Counter(), DispatchGroup())
    for _ in threads { everyone.enter() }
    let meet: @Sendable () -> Void = {
      everyone.leave()
      everyone.wait()
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in threads {
        group.addTask(executorPreference: thread) {
          arrived.add()
          meet()
          await Task.yield()
        }
      }
    }
    #expect(arrived.count == count)
  }

  @Test func sharesUseOneStoreAndAreMerged() async throws {
    let plugin = TestPlugin(capabilities: [.shared, .ordered])
    let workload = Fixtures.workload(.read(updates: 0.3))
    let phases = Mutex<[Int]>([])
    var reports: [BenchmarkReport] = []
    for index in 0..<3 {
      let options = Fixtures.options {
        $0.process = index
        $0.processes = 3
      }
      let report = try await Fixtures.run(
        [plugin], [workload], options, begin: { now in phases.withLock { $0.append(now.phase) } })
      reports.append(try BenchmarkReport(json: report.json, file: "share"))
      #expect(reports[index] == report)
    }
    let merged = try #require(BenchmarkReport.merging(reports))
    #expect(!merged.hasFailure, "\(merged.results)")
    #expect(merged.environment["processes"] == 3)
    let (one, all) = (try #require(reports[0].results[1].measurement), try #require(merged.results[1].measurement))
    #expect(all.operations == one.operations * 3 && all.rounds.count == 2)
    #expect(all.latencies.count == one.latencies.count * 3)
    #expect(all.rounds[0].seconds == reports.compactMap { $0.results[1].measurement?.rounds[0].seconds }.max())
    #expect(phases.withLock { $0 } == Array(repeating: [0, 1, 2, 3], count: 3).flatMap(\.self))
    #expect(Set(plugin.log.all.filter { $0.contains(" open ") }).count == 2)
    #expect(BenchmarkReport.merging([]) == nil)
  }

  @Test func workloadsBeyondTheCapabilitiesOfAnEngineAreSkipped() async throws {
    let full = try #require(WorkloadCatalogue.workload(named: "full"))
    let report = try await Fixtures.run(
      [TestPlugin(capabilities: [])], [Fixtures.workload(.scan), full], actions: Fixtures.actions)
    #expect(
      report.results.map(\.outcome.reason) == ["lists its entries in no order", "lists its entries in no order"]
        + ["does not check the limits of a store", "does not check the limits of a store"])
  }

  @Test func enginesThatAreNotSharedHaveNoShares() async throws {
    let options = Fixtures.options { $0.processes = 2 }
    let report = try await Fixtures.run([TestPlugin()], [Fixtures.workload()], options)
    #expect(report.results.allSatisfy { $0.outcome == .skipped("cannot be used by several processes") })
  }

  @Test func storesOnAServerAreEmptiedAndHaveSeparateNames() async throws {
    let plugin = TestPlugin(isNamed: true)
    _ = try await Fixtures.run([plugin], [Fixtures.workload(entries: 1_500)])
    #expect(plugin.keys == ["bench-test-0": [], "bench-test-2": []])
  }

  @Test func aShareRemovesNothingOfTheOthers() async throws {
    let plugin = TestPlugin(capabilities: [.shared, .ordered], isNamed: true)
    let other = try KeySpace(length: 24, process: 1).key(0)
    let options = Fixtures.options { ($0.rounds, $0.processes) = (1, 2) }
    let configuration = try BenchmarkSubject(plugin: plugin).configuration(options, number: 0)
    let engine = try await plugin.open(configuration)
    try await engine.apply(try Fixtures.batch(of: [other.text]))
    let report = try await Fixtures.run([plugin], [Fixtures.workload(.scan)], options)
    #expect(!report.hasFailure, "\(report.results)")
    #expect(plugin.keys == ["bench-test-0": [other.text]])
  }
}

/// A number that several threads count up.
private final class Counter: Sendable {
  private let number = Atomic<Int>(0)
  var count: Int { number.load(ordering: .sequentiallyConsistent) }
  func add() { number.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}
