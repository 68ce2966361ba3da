import EngineAPI
import Testing

@testable import EngineBenchmark

/// Engines that lie are found out.
struct WrongAnswerTests {
  /// Each a lie, a workload's second phase, and a part of what is reported.
  @Test(
    arguments: [
      (.wrongBytes, .read, "bytes that were not written to it"),
      (.truncated, .read, "39 bytes that were not written to it"),
      (.lost, .read, "is not there, although it was written"),
      (.wrongMetadata, .read, "metadata that was not written to it"),
      (.wrongPayloadChecksum, .read, "metadata that was not written to it"),
      (.stale, .operations([.read: 0.5, .update: 0.5]), "as it was before its last commit"),
      (.stale, .operations([.read: 0.5, .readModifyWrite: 0.5]), "as it was before its last commit"),
      (.lostWrite, .operations([.update: 1]), "the engine counts"),
      (.wrongCount, .operations([.update: 1]), "the engine counts 0 entries where there are 50"),
      (.shortScan, .operations([.scan: 1]), "was not listed, although it was written"),
      (.unorderedScan, .operations([.scan: 1]), "was not listed, although it was written"),
      (.inventedInScan, .operations([.scan: 1]), "is listed with 41 bytes"),
      (.lost, .open, "is not there, although it was written"),
    ] as [(TestPlugin.Fault, WorkloadPhase.Kind, String)])
  func aLieIsReportedInPlaceOfSpeed(fault: TestPlugin.Fault, phase: WorkloadPhase.Kind, message: String) async throws {
    try await expectLie(TestPlugin(fault: fault), Fixtures.workload(phase), message)
  }

  @Test(
    arguments: [
      (.keepsExpired, "the engine counts 50 entries where there are"), (.dropsKept, "the engine counts 0 entries"),
    ] as [(TestPlugin.Fault, String)])
  func whatExpiresMustGoAndNothingElse(fault: TestPlugin.Fault, message: String) async throws {
    let workload = Fixtures.workload(.expire, expiringShare: 0.5)
    try await expectLie(TestPlugin(fault: fault), workload, message)
  }

  /// One wrong answer after many right ones is enough.
  @Test func aSingleLieIsEnough() async throws {
    let plugin = TestPlugin(fault: .wrongBytes, firstLie: 230)
    try await expectLie(plugin, Fixtures.workload(.read), "bytes that were not written to it")
  }

  @Test func aRecordThatDecodesToSomethingElseIsWrong() async throws {
    var actions = Fixtures.actions
    actions.typed = TypedPayload(encode: { _ in [1] }, isRight: { number, _ in number != 7 })
    let workload = try #require(WorkloadCatalogue.workload(named: "typed"))
    let options = Fixtures.options { ($0.entries, $0.operations) = ([20], 100) }
    let report = try await Fixtures.run([TestPlugin()], [workload], options, actions: actions)
    #expect(report.results[0].outcome.reason?.contains("0007 came back with 1 bytes") == true, "\(report.results)")
  }

  @Test func aFetchThatIsWrongIsFound() async throws {
    struct WrongFetcher: BenchmarkFetcher {
      func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
        isStored ? .wrong : .miss
      }
    }
    let makeFetcher: BenchmarkActions.MakeFetcher = { _ in WrongFetcher() }
    let actions = BenchmarkActions(makeFetcher: [.fetched: makeFetcher])
    let workload = try #require(WorkloadCatalogue.workload(named: "articles"))
    let report = try await Fixtures.run([TestPlugin()], [workload], actions: actions)
    #expect(report.results.allSatisfy { $0.outcome.reason?.contains("is not what it is") == true })
  }

  /// A fetcher that stores all entries, although the store may hold a tenth.
  @Test func aStoreThatExceedsItsLimitIsFound() async throws {
    let makeFetcher: BenchmarkActions.MakeFetcher = { TestFetcher(engine: $0.engine) }
    let workload = try #require(WorkloadCatalogue.workload(named: "full"))
    let options = Fixtures.options { ($0.entries, $0.operations) = ([100], 10) }
    let report = try await Fixtures.run(
      [TestPlugin()], [workload], options, actions: BenchmarkActions(makeFetcher: [.bounded: makeFetcher]))
    #expect(report.results[0].outcome.reason?.contains("100 entries where it should be full with 10") == true)
  }

  /// Several workers write the same few entries, and nothing of that is taken for a lie.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func contentionIsNoLie(seed: UInt64) async throws {
    let shares = WorkloadPhase.Kind.operations([
      .read: 0.3, .update: 0.3, .insert: 0.1, .scan: 0.1, .readModifyWrite: 0.2,
    ])
    let workload = Fixtures.workload(shares, .zipfian, entries: 4, count: 4_000)
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
