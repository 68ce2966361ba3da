internal import CacheComposition
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

/// What runs leave behind on servers.
extension BenchmarkPlan {
  /// Removes what killed runs of this machine left on the servers, and notes on the servers that the run in `place` has
  /// begun.
  ///
  /// Skips a server that fails: the run meets the same failure, and reports it.
  ///
  /// - Returns: how many runs it cleaned up after.
  func begin(in place: BenchmarkPlace) async -> Int {
    let storeCount = options(place).storeCount(workloads, subjectCount: subjects.count)
    let processes = SystemProcessTable()
    var count = 0
    for runs in serverRuns {
      let cleaned = try? await runs.begin(
        place.runName, storeCount: storeCount, owner: processes.current?.attributes ?? [:],
        hasEnded: { ProcessIdentity($0).map(processes.hasEnded) ?? false })
      count += cleaned ?? 0
    }
    return count
  }

  /// Notes on the servers that the run has ended and removed its stores. If that fails, the next run finds nothing to
  /// remove.
  func end(in place: BenchmarkPlace) async {
    for runs in serverRuns { try? await runs.end(place.runName) }
  }

  private var serverRuns: [ServerRuns] {
    let now = Timestamp(milliseconds: Int64(date / .milliseconds(1)))
    return subjects.filter(\.hasNamedStore).map { ServerRuns($0, now: now) }
  }
}
