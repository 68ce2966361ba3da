public import StorageSPI

/// Runs workloads over engines in interleaved rounds: A, B, C, A, B, C and so on, so that disturbances on the machine
/// affect all engines alike. Each round of each engine has its own store.
///
/// Every answer is checked against what was written. The values are functions of the key and its version, checked in
/// place at the speed of memory, so that the check costs little compared to what is measured: choosing, timing,
/// checking and recording a read of 100 bytes takes 0.3 to 0.4 microseconds more processor time than the read alone,
/// two thirds of it outside the timed part. The memory engine shows this in every report.
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
  ///   - workloads: the work.
  ///   - options: how to run them.
  ///   - actions: what some workloads need.
  ///   - probe: how to measure.
  ///   - machine: the machine for the report.
  ///   - facts: further facts for the report.
  ///   - progress: called with the progress, on the task of the run.
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

  /// Runs everything. The failure of an engine is in its results, and the other engines go on. If the task is
  /// cancelled, stores are closed and removed, and the report has the measurements so far.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if an option is out of range or a subject rejects its
  ///   values, `failed` if threads cannot be started.
  public func run() async throws(CacheError) -> BenchmarkReport {
    try options.validate()
    var threads: [WorkerThread] = []
    defer { for thread in threads { thread.stop() } }
    for _ in 0..<options.threads { threads.append(try WorkerThread()) }
    let context = BenchmarkContext(options: options, actions: actions, probe: probe, threads: threads)
    for (number, subject) in subjects.enumerated() { _ = try RoundStore(subject, context, number: number) }
    return try await run(context)
  }

  private func run(_ context: BenchmarkContext) async throws(CacheError) -> BenchmarkReport {
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
