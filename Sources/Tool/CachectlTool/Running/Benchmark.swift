internal import ArgumentParser
internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation
internal import Synchronization

/// A benchmark in a scratch folder, with its progress on the terminal.
struct Benchmark {
  private let plan: BenchmarkPlan
  private let processes: Int
  private let global: GlobalOptions

  init(plan: BenchmarkPlan, processes: Int, global: GlobalOptions) {
    (self.plan, self.processes, self.global) = (plan, processes, global)
  }

  /// Runs the benchmark, in this process or in several, and always removes the scratch folder.
  func run() async throws(CacheError) -> BenchmarkOutcome {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let progress = BenchmarkProgressDisplay(isVisible: global.showsProgress)
    defer { progress.finish() }
    let place = BenchmarkPlace(scratchFolder: scratch.path, runName: Self.newName(), date: plan.date)
    await begin(on: place)
    // After a failure its stores may still be there: the next run removes them.
    let outcome = try await measure(place, scratch, progress)
    await plan.end(in: place)
    return outcome
  }

  private func measure(
    _ place: BenchmarkPlace, _ scratch: ScratchFolder, _ progress: BenchmarkProgressDisplay
  ) async throws(CacheError) -> BenchmarkOutcome {
    guard processes > 1 else { return try await plan.run(in: place) { progress.show($0) } }
    let shares = SharedBenchmark(place: place, count: processes, scratch: scratch)
    return try plan.merge(try shares.run { progress.show($0) })
  }

  /// Says which servers are used, and removes what killed runs left there.
  private func begin(on place: BenchmarkPlace) async {
    guard !plan.servers.isEmpty else { return }
    global.remark(
      StatusLine(
        [
          "measures \(plan.servers.joined(separator: " and ")) on the server of the configuration",
          "its stores there begin with \(place.runName), go at the end, and after a kill with the next run or within "
            + "three hours",
        ], style: .yellow))
    let count = await plan.begin(in: place)
    guard count > 0 else { return }
    global.remark(
      StatusLine(["Removed what \(count == 1 ? "a benchmark" : "\(count) benchmarks") left there when killed"]))
  }

  /// A name that no other run has.
  private static func newName() -> String { "bench-" + String(UInt64.random(in: 0 ... .max), radix: 16) }
}

/// The progress of a benchmark; any task may report it.
final class BenchmarkProgressDisplay: Sendable {
  private let display: Mutex<ProgressDisplay>

  /// Draws nothing unless `isVisible`.
  init(isVisible: Bool) { display = Mutex(ProgressDisplay("Measuring", isVisible: isVisible)) }

  func show(_ step: BenchmarkStep) {
    display.withLock { $0.show(done: step.done, total: step.total, item: step.item, timeLeft: step.timeLeft) }
  }

  /// Removes the line from the terminal.
  func finish() { display.withLock { $0.finish() } }
}
