import Foundation
import EngineAPI
import Synchronization
import Testing

@testable import EngineBenchmark

/// Cancellation, target rates, threads and shares.
struct BenchmarkRunTests {
  @Test func aCancelledRunHasTheResultsSoFar() async throws {
    let plugin = TestPlugin()
    let task = Mutex<Task<BenchmarkReport, any Error>?>(nil)
    let gate = AsyncStream<Void>.makeStream()
    let workloads = [
      Fixtures.workload(.read), Fixtures.workload(.operations([.update: 1])),
    ]
    let started = Task {
      for await _ in gate.stream {}
      return try await Fixtures.run(
        [plugin], workloads, Fixtures.options { $0.rounds = 3 },
        progress: { one in
          if one.completed == 3 { task.withLock { $0?.cancel() } }
        })
    }
    task.withLock { $0 = started }
    gate.continuation.finish()
    let report = try await started.value
    #expect(!report.isComplete && !report.hasFailure)
    // One whole round was done; the second was cancelled before its reads.
    #expect(report.results.map { $0.measurement?.rounds.count } == [1, 1])
    #expect(plugin.log.all.count { $0.contains(" open ") } == plugin.log.all.count { $0.hasSuffix("close") })
    let cancelled = report.json()
    #expect(try BenchmarkReport(json: cancelled, file: "r").isComplete == false)
  }

  /// Each look at the clock takes 100 nanoseconds: two for a read, the second of which ends it. At a rate of a thousand
  /// million a second each intended start is one nanosecond after the one before, and what waits in line counts, although
  /// every read takes equally long.
  @Test(arguments: [(nil, 100, 100), (1_000, 200, 200), (1e9, 200, 200 * 50 - 49)] as [(Double?, UInt64, UInt64)])
  func waitingForTheOneBeforeCounts(rate: Double?, shortest: UInt64, longest: UInt64) async throws {
    let workload = Fixtures.workload(.read, entries: 10, count: 50)
    let options = Fixtures.options { ($0.rounds, $0.targetRate) = (1, rate) }
    let report = try await Fixtures.run([TestPlugin()], [workload], options, probe: TestClock(step: 100).probe)
    let measurement = try #require(report.results.last?.measurement)
    let histogram = try #require(measurement.histogram)
    #expect(histogram.minimum == shortest && histogram.maximum == longest)
    if rate == 1_000 { #expect(abs(measurement.seconds - 0.049) < 0.001) }
  }

  @Test func aStallDelaysAllThatWereToStartMeanwhile() {
    // Intended starts at 0, 1000, 2000 ...; the second operation takes 5000, the others 100.
    let clock = TestClock(step: 0)
    let probe = clock.probe
    var schedule = Schedule(start: probe.now(), interval: 1_000)
    var latencies: [UInt64] = []
    for index in 0..<8 {
      let begin = schedule.start(probe)
      clock.advance(by: index == 1 ? 5_000 : 100)
      latencies.append(probe.now() - begin)
    }
    #expect(latencies == [100, 5_000, 4_100, 3_200, 2_300, 1_400, 500, 100])
  }

  @Test func workersHaveThreadsOfTheirOwn() async throws {
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
    let workload = Fixtures.workload(.operations([.read: 0.4, .scan: 0.3, .insert: 0.3]))
    let names = Mutex<[String]>([])
    var reports: [BenchmarkReport] = []
    for index in 0..<3 {
      let options = Fixtures.options {
        $0.share = BenchmarkShare(index: index, count: 3)
        $0.rendezvous = { name in names.withLock { $0.append(name) } }
      }
      let report = try await Fixtures.run([plugin], [workload], options)
      let json = report.json(includingHistograms: true)
      reports.append(try BenchmarkReport(json: json, file: "share"))
      #expect(reports[index] == report)
    }
    let merged = try #require(BenchmarkReport.merging(reports))
    #expect(!merged.hasFailure, "\(merged.results)")
    #expect(merged.environment.processes == 3)
    let (one, all) = (try #require(reports[0].results[1].measurement), try #require(merged.results[1].measurement))
    #expect(all.operations == one.operations * 3 && all.rounds.count == 2)
    #expect(all.latency.count == one.latency.count * 3)
    #expect(all.rounds[0].seconds == reports.compactMap { $0.results[1].measurement?.rounds[0].seconds }.max())
    #expect(names.withLock { $0 } == Array(repeating: ["0.0", "0.1", "2.0", "2.1"], count: 3).flatMap(\.self))
    #expect(Set(plugin.log.all.filter { $0.contains(" open ") }).count == 2)
    #expect(BenchmarkReport.merging([]) == nil)
  }

  @Test func workloadsBeyondTheCapabilitiesOfAnEngineAreSkipped() async throws {
    let full = try #require(WorkloadCatalogue.workload(named: "full"))
    let report = try await Fixtures.run(
      [TestPlugin(capabilities: [])], [Fixtures.workload(.operations([.scan: 1])), full], actions: Fixtures.actions)
    #expect(
      report.results.map(\.outcome.reason) == ["lists its entries in no order", "lists its entries in no order"]
        + ["does not check the limits of a store", "does not check the limits of a store"])
  }

  @Test func enginesThatAreNotSharedHaveNoShares() async throws {
    let options = Fixtures.options { $0.share = BenchmarkShare(index: 0, count: 2) }
    let report = try await Fixtures.run([TestPlugin()], [Fixtures.workload(.read)], options)
    #expect(report.results.allSatisfy { $0.outcome == .skipped("cannot be used by several processes") })
  }

  @Test func storesOnAServerAreEmptiedAndHaveNamesOfTheirOwn() async throws {
    let plugin = TestPlugin(isNamed: true)
    _ = try await Fixtures.run([plugin], [Fixtures.workload(.operations([.insert: 1]), entries: 1_500)])
    #expect(plugin.keys == ["bench-test-0": [], "bench-test-2": []])
  }

  @Test func aShareRemovesNothingOfTheOthers() async throws {
    let plugin = TestPlugin(capabilities: [.shared, .ordered], isNamed: true)
    let other = try KeySpace(length: 24, share: BenchmarkShare(index: 1, count: 2)).key(0)
    let configuration = try BenchmarkSubject(plugin: plugin).configuration(
      folder: "", name: "bench-test-0", durability: .normal, clock: FixedClock(now: Fixtures.date))
    let engine = try await plugin.open(configuration)
    try await engine.apply(try Fixtures.batch(of: [other.text]))
    let options = Fixtures.options { ($0.rounds, $0.share) = (1, BenchmarkShare(index: 0, count: 2)) }
    let report = try await Fixtures.run([plugin], [Fixtures.workload(.operations([.scan: 1]))], options)
    #expect(!report.hasFailure, "\(report.results)")
    #expect(plugin.keys == ["bench-test-0": [other.text]])
  }

  @Test(arguments: [(-1, 0, 0, 1), (5, 3, 2, 3), (99, 99, 31, 32)])
  func sharesStayInTheirRange(index: Int, count: Int, expectedIndex: Int, expectedCount: Int) {
    let share = BenchmarkShare(index: index, count: count)
    #expect(share.index == expectedIndex && share.count == expectedCount)
  }
}

/// A number that several threads count up.
private final class Counter: Sendable {
  private let number = Atomic<Int>(0)
  var count: Int { number.load(ordering: .sequentiallyConsistent) }
  func add() { number.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}
