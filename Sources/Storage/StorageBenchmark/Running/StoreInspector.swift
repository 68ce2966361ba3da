internal import StorageSPI

/// Checks after a phase, outside the measurement, that the store contains what was written: through the engine's own
/// count, and a sample of entries. This catches an engine that loses entries that no worker happens to read.
struct StoreInspector {
  /// The maximum number of entries to read.
  private static let sampleSize = 1_000

  let engine: any StorageEngine
  let check: EntryCheck
  let workload: Workload
  let subject: BenchmarkSubject

  /// Checks the store, and returns its size in bytes.
  func run(after phase: WorkloadPhase, isShared: Bool) async throws(BenchmarkFailure) -> Int {
    let statistics: StorageStatistics
    do { statistics = try await engine.statistics() } catch { throw BenchmarkFailure(error) }
    guard phase.writes, !workload.payload.isThroughCache else { return statistics.storageBytes }
    if !isShared { try BenchmarkFailure.require(faultOfCount(statistics.entries)) }
    try await readSample()
    return statistics.storageBytes
  }

  private func faultOfCount(_ entries: Int) -> WrongAnswer? {
    let all = check.ledger.count
    let dropsByItself = subject.plugin.declaration.capabilities.contains(.nativeExpiry)
    let kept = workload.expiringShare > 0 ? (0..<all).count { !check.values.isExpired($0) } : all
    let allowed = check.ledger.isCompacted ? kept...kept : (dropsByItself ? kept : all)...all
    guard !allowed.contains(entries) else { return nil }
    return WrongAnswer(.count, "the engine counts \(entries) entries where there are \(allowed.upperBound)")
  }

  private func readSample() async throws(BenchmarkFailure) {
    let count = check.ledger.count
    for number in stride(from: 0, to: count, by: max(1, count / Self.sampleSize)) {
      try await check.read(engine, number)
    }
  }
}
