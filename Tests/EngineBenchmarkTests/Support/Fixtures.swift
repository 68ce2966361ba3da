import Foundation
import EngineAPI

@testable import EngineBenchmark

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
    begin: @escaping @Sendable (BenchmarkProgress) async throws(CacheError) -> Void = { _ in }
  ) async throws -> BenchmarkReport {
    try await BenchmarkRunner(
      subjects: plugins.map { BenchmarkSubject(plugin: $0) }, workloads: workloads, options: options, actions: actions,
      probe: probe, begin: begin
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
    _ kind: WorkloadPhase.Kind = .read(updates: 0), isZipfian: Bool = false, entries: Int = 50, count: Int = 200
  ) -> Workload {
    Workload(
      "own", entries: entries, operations: count, valueSize: 40,
      [WorkloadPhase("load", .load(batchSize: 7)), WorkloadPhase("run", kind, isZipfian: isZipfian)])
  }

  /// Records that are texts, and a cache that evicts the first entry.
  static let actions = BenchmarkActions(
    typed: TypedPayload(
      encode: { Array("record \($0)".utf8) },
      isRight: { number, bytes in
        bytes.withUnsafeBufferPointer { $0.elementsEqual("record \(number)".utf8) }
      }),
    openCache: { target in { number, isStored throws(CacheError) in try await read(number, isStored, target) } })

  /// Stores an empty entry if it is missing, in place of the first one if the store is full.
  private static func read(
    _ number: Int, _ isStored: Bool, _ target: BenchmarkStore
  ) async throws(CacheError) -> BenchmarkAnswer {
    let key = try target.key(number)
    if isStored, try await target.engine.read(key, { _, _ throws(CacheError) in true }) != nil { return .hit }
    var batch = try batch(of: [key.text])
    batch.bounds = StoreBounds(maxEntries: target.maximumEntries, maxPayloadBytes: .max)
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
