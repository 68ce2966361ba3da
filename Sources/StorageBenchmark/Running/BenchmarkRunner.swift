public import StorageSPI

/// Runs workloads over engines, in interleaved rounds: A, B, C, A, B, C and so on, so that whatever else the machine does
/// meets all engines alike. Each round of each engine has a store of its own.
///
/// Every answer is checked against what was written. The values are functions of the key and its version that are
/// checked in place at the speed of memory, so that the check costs little of what it measures: a read of 100 bytes that
/// is chosen, timed, checked and recorded takes some 0.3 to 0.4 microseconds more processor time than the read alone, two
/// thirds of it outside of what is timed. The memory engine shows it in every report.
public struct BenchmarkRunner: Sendable {
  private let subjects: [BenchmarkSubject]
  private let workloads: [Workload]
  private let options: BenchmarkOptions
  private let actions: BenchmarkActions
  private let probe: BenchmarkProbe
  private let environment: BenchmarkEnvironment
  private let progress: @Sendable (BenchmarkProgress) -> Void

  /// A run.
  ///
  /// - Parameters:
  ///   - subjects: the engines, in the order of their turns.
  ///   - workloads: what they do.
  ///   - options: how.
  ///   - actions: what some workloads need.
  ///   - probe: what measures.
  ///   - machine: what the report says of the machine.
  ///   - facts: what else it says.
  ///   - progress: is told how far the run is, on the task that runs it.
  public init(
    subjects: [BenchmarkSubject], workloads: [Workload], options: BenchmarkOptions,
    actions: BenchmarkActions = BenchmarkActions(), probe: BenchmarkProbe = .system,
    machine: BenchmarkMachine = BenchmarkMachine(), facts: [String: String] = [:],
    progress: @escaping @Sendable (BenchmarkProgress) -> Void = { _ in }
  ) {
    (self.subjects, self.workloads, self.options, self.actions) = (subjects, workloads, options, actions)
    (self.probe, self.progress) = (probe, progress)
    environment = BenchmarkEnvironment(options, subjects, machine: machine, facts: facts)
  }

  /// Runs everything. What goes wrong with one engine is in its results, and the others go on. Where the task is
  /// cancelled, stores are closed and removed, and the report has what was measured until then.
  ///
  /// - Throws: `StorageError` with the code `invalidOption` if an option is out of its range or a subject does not
  ///   take its values, `failed` if there are no threads to be had.
  public func run() async throws(StorageError) -> BenchmarkReport {
    try options.validate()
    var threads: [WorkerThread] = []
    defer { for thread in threads { thread.stop() } }
    for _ in 0..<options.threads { threads.append(try WorkerThread()) }
    let context = BenchmarkContext(options: options, actions: actions, probe: probe, threads: threads)
    for (number, subject) in subjects.enumerated() { _ = try RoundStore(subject, context, number: number) }
    return try await run(context)
  }

  private func run(_ context: BenchmarkContext) async throws(StorageError) -> BenchmarkReport {
    var series = plannedSeries(context)
    var tracker = ProgressTracker()
    for one in series { one.plan(&tracker) }
    var report = BenchmarkReport(environment: environment, results: [], isComplete: true)
    for index in series.indices where report.isComplete {
      report.isComplete = try await series[index].run(&tracker, progress)
      report.results += series[index].results
    }
    if report.isComplete { progress(BenchmarkProgress(end: tracker, rounds: options.rounds)) }
    return report
  }

  private func plannedSeries(_ context: BenchmarkContext) -> [BenchmarkSeries] {
    var series: [BenchmarkSeries] = []
    var storeNumber = 0
    for workload in workloads {
      for entries in options.entries.isEmpty ? [workload.entries] : options.entries {
        let applied = options.applied(to: workload, entries: entries)
        series.append(BenchmarkSeries(context, applied, subjects, firstStore: storeNumber))
        storeNumber += options.storeCount(of: workload, subjects.count)
      }
    }
    return series
  }
}
