internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation
internal import StorageBenchmark
internal import Synchronization

/// A benchmark in a scratch folder, with its progress on the terminal.
struct Benchmark {
  private var plan: BenchmarkPlan
  private let global: GlobalOptions

  init(_ plan: BenchmarkPlan, _ global: GlobalOptions) {
    (self.plan, self.global) = (plan, global)
    // A name that no other run has.
    self.plan.options.runName = "bench-" + String(UInt64.random(in: 0 ... .max), radix: 16)
  }

  /// Runs the benchmark, in this process or in several, and always removes the scratch folder.
  func run() async throws(CacheError) -> BenchmarkOutcome {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    var plan = plan
    plan.options.scratchFolder = scratch.path
    await begin()
    // After a failure its stores may still be there: the next run removes them.
    let outcome = try await measure(plan)
    await plan.end()
    return outcome
  }

  private func measure(_ plan: BenchmarkPlan) async throws(CacheError) -> BenchmarkOutcome {
    let display = Mutex(ProgressDisplay("Measuring", isVisible: global.showsProgress))
    defer { display.withLock { $0.finish() } }
    let show: @Sendable (BenchmarkProgress) -> Void = { now in
      display.withLock {
        $0.show(
          done: now.completed, total: now.total, item: now.item, timeLeft: now.secondsLeft.map { .seconds($0) })
      }
    }
    guard plan.processes > 1 else { return try await plan.run(show) }
    return try plan.merge(try SharedBenchmark(plan).run(show))
  }

  /// Says which servers are used, and removes what killed runs left there.
  private func begin() async {
    guard !plan.servers.isEmpty else { return }
    global.remark(
      StatusLine(
        [
          "measures \(plan.servers.joined(separator: " and ")) on the server of the configuration",
          "its stores there begin with \(plan.options.runName), go at the end, and after a kill with the next run or "
            + "within three hours",
        ], style: .yellow))
    let count = await plan.begin()
    guard count > 0 else { return }
    global.remark(
      StatusLine(["Removed what \(count == 1 ? "a benchmark" : "\(count) benchmarks") left there when killed"]))
  }
}
