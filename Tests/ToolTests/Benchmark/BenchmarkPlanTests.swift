import FetchVocabulary
import CachePresentation
import Foundation
import StorageSPI
import Testing

@testable import CacheComposition
@testable import CachectlTool
@testable import StorageBenchmark

/// Benchmarks through the composition root.
struct BenchmarkPlanTests {
  private func settings(_ workloads: String..., change: (inout BenchmarkSettings) -> Void = { _ in })
    -> BenchmarkSettings
  {
    var settings = BenchmarkSettings()
    settings.workloads = workloads.map(BenchmarkSettings.Source.builtIn)
    (settings.options.entries, settings.options.operations, settings.options.rounds) = ([20], 30, 1)
    change(&settings)
    return settings
  }

  private func place(_ home: TestHome) throws -> BenchmarkPlace {
    let folder = home.folder + "/scratch"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return BenchmarkPlace(scratchFolder: folder, runName: "bench-test", date: .seconds(1_700_000_000))
  }

  @Test(arguments: ["typed", "typed-repeated", "articles"])
  func whatTheCacheStoresIsMeasuredOnEveryEngine(workload: String) async throws {
    let home = try TestHome()
    let plan = try home.container(backend: "memory").makeBenchmarkPresenter().plan(settings(workload))
    let outcome = try await plan.run(in: try place(home)) { _ in }
    #expect(outcome.isComplete && !outcome.hasFailure && !outcome.isWorse)
    let results = outcome.report.results
    #expect(results.allSatisfy { $0.measurement != nil }, "\(results)")
    #expect(Set(results.map(\.row.backend)) == Set(Backends.all) && outcome.controls == ["memory"])
  }

  @Test(arguments: ["typed", "typed-repeated", "articles", "ycsb-a"])
  func anEngineThatChangesWhatItKeepsIsFoundOut(workload: String) async throws {
    let home = try TestHome()
    let container = try home.container("{}", catalogue: PluginCatalogue([ForgetfulPlugin()]))
    let settings = settings(workload) { $0.backends = ["forgetful"] }
    let outcome = try await container.makeBenchmarkPresenter().plan(settings).run(in: try place(home)) { _ in }
    #expect(outcome.hasFailure)
    let result = try #require(outcome.report.results.first)
    #expect(result.outcome.name == "wrong" && result.outcome.reason != nil, "\(result)")
  }

  @Test(arguments: [
    ([EngineOption("prefix", .storeName, default: .text("main"), help: "a name")], ["fake"]),
    ([EngineOption("path", .path, default: .text("x"), help: "a path")], []), ([], []),
  ])
  func enginesOnServersAreNamed(options: [EngineOption], servers: [String]) throws {
    let plugin = FakePlugin("fake", options: options, store: TableEngine())
    let container = try TestHome().container("{}", catalogue: PluginCatalogue([plugin]))
    let plan = try container.makeBenchmarkPresenter().plan(settings("read") { $0.backends = ["fake"] })
    #expect(plan.servers == servers)
  }

  @Test func unknownEnginesAndBadFilesAreErrors() throws {
    let presenter = try TestHome().container(backend: "memory").makeBenchmarkPresenter()
    #expect(code { try presenter.plan(settings("read") { $0.backends = ["none"] }) } == "unknownBackend")
    #expect(code { try presenter.plan(settings("none")) } == "invalidRequest")
    #expect(code { try presenter.plan(settings { $0.workloads = [.file(name: "x", bytes: [])] }) } == "malformed")
    #expect(code { try presenter.plan(settings("read") { $0.saved = ("x", Array("[]".utf8)) }) } == "malformed")
  }

  private func code(_ body: () throws -> BenchmarkPlan) -> String? {
    do {
      _ = try body()
      return nil
    } catch { return (error as? CacheError)?.code.rawValue }
  }

  @Test func sharesMakeOneReport() async throws {
    let home = try TestHome()
    let settings = settings("ycsb-a", "articles") { ($0.backends, $0.processes) = (["sqlite"], 2) }
    let plan = try home.container(backend: "memory").makeBenchmarkPresenter().plan(settings)
    var reports: [[UInt8]] = []
    for index in 0..<2 {
      var place = try place(home)
      place.share = (index, 2)
      reports.append(try await plan.run(in: place) { _ in }.transferBytes)
    }
    let results = try plan.merge(reports).report.results
    #expect(results.count == 4 && results.allSatisfy { $0.measurement != nil }, "\(results)")
    #expect(results.first { $0.row.phase == "run" }?.measurement?.operations == 60)
    #expect(throws: CacheError.self) { try plan.merge([Array("nothing".utf8)]) }
  }

  @Test func aSavedRunComparesWithItself() async throws {
    let home = try TestHome()
    let presenter = try home.container(backend: "memory").makeBenchmarkPresenter()
    let settings = settings("read") { $0.backends = ["memory"] }
    let before = try await presenter.plan(settings).run(in: try place(home)) { _ in }
    var again = settings
    again.saved = ("before.json", before.savedBytes)
    let plan = try presenter.plan(again)
    let outcome = try plan.merge([before.transferBytes])
    #expect(!outcome.isWorse)
    #expect(outcome.comparison?.rows.map(\.verdict) == [.cannotTell])
  }
}

/// An engine that gives the same answer to every read, whatever was asked for.
private struct ForgetfulPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "forgetful", version: "1", summary: "wrong", capabilities: [.atomicBatches], options: [])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    ForgetfulEngine(memory: try await Self.memory(configuration.clock))
  }

  private static func memory(_ clock: any WallClock) async throws(CacheError) -> any StorageEngine {
    let plugin = try PluginCatalogue.builtIn.plugin(named: "memory")
    return try await plugin.open(try EngineConfiguration(for: plugin.declaration, values: [:], clock: clock))
  }
}

private final class ForgetfulEngine: StorageEngine {
  private let memory: any StorageEngine

  init(memory: any StorageEngine) { self.memory = memory }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { nil }

  func apply(_ batch: WriteBatch) async throws(CacheError) { try await memory.apply(batch) }
  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await memory.scan(range, limit: limit)
  }
  func statistics() async throws(CacheError) -> StorageStatistics { try await memory.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { [] }
  func compact() async throws(CacheError) { try await memory.compact() }
  func close() async throws(CacheError) { try await memory.close() }
}
