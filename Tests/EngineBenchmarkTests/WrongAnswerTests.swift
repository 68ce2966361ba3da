import EngineAPI
import Testing

@testable import EngineBenchmark

/// Engines that lie are detected.
struct WrongAnswerTests {
  private static let read = WorkloadPhase.Kind.read(updates: 0)

  /// Each row is a lie, a workload's second phase, and a part of the report.
  @Test(
    arguments: [
      (.wrongBytes, read, "bytes that were not written to it"),
      (.truncated, read, "39 bytes that were not written to it"),
      (.lost, read, "is not there, although it was written"),
      (.wrongMetadata, read, "metadata that was not written to it"),
      (.wrongPayloadChecksum, read, "metadata that was not written to it"),
      (.stale, .read(updates: 0.5), "as it was before its last commit"),
      (.lostWrite, .read(updates: 1), "the engine counts"),
      (.wrongCount, .read(updates: 1), "the engine counts 0 entries, and there are 50"),
      (.shortScan, .scan, "was not listed in its place, although it was written"),
      (.unorderedScan, .scan, "was not listed in its place, although it was written"),
      (.inventedInScan, .scan, "is listed with 41 bytes"),
      (.lost, .open, "is not there, although it was written"),
    ] as [(TestPlugin.Fault, WorkloadPhase.Kind, String)])
  func aLieIsReportedInPlaceOfSpeed(fault: TestPlugin.Fault, phase: WorkloadPhase.Kind, message: String) async throws {
    try await expectLie(TestPlugin(fault: fault), Fixtures.workload(phase), message)
  }

  /// One wrong result after many right ones is enough.
  @Test func aSingleLieIsEnough() async throws {
    let plugin = TestPlugin(fault: .wrongBytes, firstLie: 230)
    try await expectLie(plugin, Fixtures.workload(), "bytes that were not written to it")
  }

  @Test func aRecordThatDecodesToSomethingElseIsWrong() async throws {
    var actions = Fixtures.actions
    actions.typed = TypedPayload(encode: { _ in [1] }, isRight: { number, _ in number != 7 })
    let workload = try #require(WorkloadCatalogue.workload(named: "typed"))
    let options = Fixtures.options { ($0.entries, $0.operations) = ([20], 100) }
    let report = try await Fixtures.run([TestPlugin()], [workload], options, actions: actions)
    #expect(report.results[0].outcome.reason?.contains("0007 came back with 1 bytes") == true, "\(report.results)")
  }

  @Test func aReadThroughTheCacheThatIsWrongIsFound() async throws {
    let report = try await runFull { _ in { _, isStored throws(CacheError) in isStored ? .wrong : .miss } }
    #expect(report.results[0].outcome.reason?.contains("0 entries and should be full with 10") == true)
    let wrong = try await runFull { target in
      let read = Fixtures.actions.openCache?(target)
      return { number, isStored throws(CacheError) in isStored ? .wrong : try await read?(number, isStored) ?? .wrong }
    }
    #expect(wrong.results.allSatisfy { $0.outcome.reason?.contains("came back with other bytes") == true })
  }

  /// A cache that stores all entries, although the store may hold a tenth.
  @Test func aStoreThatExceedsItsLimitIsFound() async throws {
    let report = try await runFull { target in
      { number, _ throws(CacheError) in
        try await target.engine.apply(try Fixtures.batch(of: [try target.key(number).text]))
        return .miss
      }
    }
    #expect(report.results[0].outcome.reason?.contains("100 entries and should be full with 10") == true)
  }

  private func runFull(
    _ openCache: @escaping @Sendable (BenchmarkStore) -> BenchmarkActions.Read
  ) async throws -> BenchmarkReport {
    let workload = try #require(WorkloadCatalogue.workload(named: "full"))
    let options = Fixtures.options { ($0.entries, $0.operations) = ([100], 10) }
    return try await Fixtures.run([TestPlugin()], [workload], options, actions: BenchmarkActions(openCache: openCache))
  }

  /// Several workers write the same few entries, and none of that is reported as a lie.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func contentionIsNotAWrongResult(seed: UInt64) async throws {
    let workload = Fixtures.workload(.read(updates: 0.6), isZipfian: true, entries: 4, count: 4_000)
    let options = Fixtures.options { ($0.threads, $0.seed) = (4, seed) }
    let report = try await Fixtures.run([TestPlugin()], [workload], options)
    #expect(!report.hasFailure, "seed \(seed): \(report.results.map(\.outcome))")
  }

  private func expectLie(_ plugin: TestPlugin, _ workload: Workload, _ message: String) async throws {
    let report = try await Fixtures.run([plugin, TestPlugin("honest")], [workload])
    for result in report.results {
      guard result.row.backend == "test" else {
        #expect(result.measurement != nil, "\(result)")
        continue
      }
      guard case .wrong(let reason) = result.outcome else {
        Issue.record("the lie was not found: \(result)")
        continue
      }
      #expect(reason.contains(message), "\(reason)")
    }
  }
}
