import Foundation
import EngineAPI

@testable import EngineBenchmark

/// What several tests need.
enum Fixtures {
  /// The probe of the system, without the work that only says how fast the machine is.
  static let probe: BenchmarkProbe = {
    var probe = BenchmarkProbe.system
    probe.doReferenceWork = { _ in }
    return probe
  }()
  static let date = Timestamp(milliseconds: 1_767_225_600_000)

  static func options(folder: String = "/nowhere", _ change: (inout BenchmarkOptions) -> Void = { _ in })
    -> BenchmarkOptions
  {
    var options = BenchmarkOptions()
    (options.scratchFolder, options.runName, options.date) = (folder, "bench-test", date)
    (options.rounds, options.warmUpRounds) = (2, 0)
    change(&options)
    return options
  }

  /// The report of a run over `plugins`.
  static func run(
    _ plugins: [any StoragePlugin], _ workloads: [Workload], _ options: BenchmarkOptions = Fixtures.options(),
    actions: BenchmarkActions = BenchmarkActions(), probe: BenchmarkProbe = probe,
    progress: @escaping @Sendable (BenchmarkProgress) -> Void = { _ in }
  ) async throws -> BenchmarkReport {
    try await BenchmarkRunner(
      subjects: plugins.map { BenchmarkSubject(plugin: $0) }, workloads: workloads, options: options, actions: actions,
      probe: probe, progress: progress
    ).run()
  }

  /// A batch that stores empty entries under `keys`.
  static func batch(of keys: [String]) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for key in keys {
      batch.put(
        try CacheKey(key), payload: [],
        metadata: EntryMetadata(
          storedAt: date, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: ""))
    }
    return batch
  }

  /// A workload with a load and one more phase.
  static func workload(
    _ kind: WorkloadPhase.Kind, _ distribution: KeyDistribution = .uniform, entries: Int = 50, count: Int = 200,
    expiringShare: Double = 0
  ) -> Workload {
    Workload(
      "own", entries: entries, operations: count, valueSize: 40, expiringShare: expiringShare,
      [WorkloadPhase("load", .load, batchSize: 7), WorkloadPhase("run", kind, distribution)])
  }

  /// Records that are texts, and a fetcher that counts.
  static let actions = BenchmarkActions(
    typed: TypedPayload(
      encode: { Array("record \($0)".utf8) },
      isRight: { number, bytes in
        bytes.withUnsafeBufferPointer { $0.elementsEqual("record \(number)".utf8) }
      }),
    makeFetcher: [.fetched: fetcher, .kept: fetcher, .bounded: { BoundedTestFetcher(target: $0) }])

  private static let fetcher: BenchmarkActions.MakeFetcher = { TestFetcher(engine: $0.engine) }
}

/// Stores an empty entry for each resource that is missing, in place of the first one if the store is full.
struct BoundedTestFetcher: BenchmarkFetcher {
  let target: BenchmarkStore

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let key = try target.key(number)
    if isStored, try await target.engine.read(key, { _, _ throws(CacheError) in true }) != nil { return .hit }
    var batch = try Fixtures.batch(of: [key.text])
    batch.bounds = StoreBounds(maxEntries: target.maximumEntries ?? .max, maxPayloadBytes: .max)
    while true {
      do throws(CacheError) {
        try await target.engine.apply(batch)
        return .miss
      } catch {
        guard error.code == .overBounds else { throw error }
        for first in try await target.engine.scan(ScanRequest(limit: 1)).entries { batch.remove(first.key) }
      }
    }
  }
}

/// Stores an empty entry for each resource.
struct TestFetcher: BenchmarkFetcher {
  let engine: any StorageEngine

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let key = try CacheKey("fetched/\(number)")
    let isThere = try await engine.read(key) { _, _ throws(CacheError) in true } ?? false
    guard !isThere else { return isStored ? .hit : .wrong }
    try await engine.apply(Fixtures.batch(of: [key.text]))
    return isStored ? .wrong : .miss
  }
}
