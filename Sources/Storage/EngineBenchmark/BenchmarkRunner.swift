public import EngineAPI

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
    self.subjects = subjects
    self.workloads = workloads
    self.options = options
    self.actions = actions
    self.probe = probe
    self.progress = progress
    environment = BenchmarkEnvironment(options, subjects, machine: machine, facts: facts)
  }

  /// Runs everything. The failure of an engine is in its results, and the other engines continue. If the task is
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
    var tracker = ProgressTracker(progress)
    for one in series { one.plan(&tracker) }
    var report = BenchmarkReport(environment: environment, results: [], isComplete: true)
    for index in series.indices where report.isComplete {
      report.isComplete = try await series[index].run(&tracker)
      report.results += series[index].results
    }
    if report.isComplete { tracker.begin("") }
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

/// What all rounds of a run share.
struct BenchmarkContext: Sendable {
  let options: BenchmarkOptions
  let actions: BenchmarkActions
  let probe: BenchmarkProbe
  let threads: [WorkerThread]
}

/// All rounds of one workload with one number of entries, over all engines.
struct BenchmarkSeries {
  /// The results of one engine so far.
  private struct Record {
    /// The cost of each phase in each round.
    var costs: [[PhaseCost]]
    /// Why no more rounds follow; `nil` if they do.
    var end: BenchmarkResult.Outcome?
  }

  private let context: BenchmarkContext
  private let workload: Workload
  private let subjects: [BenchmarkSubject]
  private let firstStore: Int
  private var records: [Record]

  init(_ context: BenchmarkContext, _ workload: Workload, _ subjects: [BenchmarkSubject], firstStore: Int) {
    self.context = context
    self.workload = workload
    self.subjects = subjects
    self.firstStore = firstStore
    records = subjects.map { subject in
      let reason = subject.reasonToSkip(workload, context.options, context.actions)
      return Record(
        costs: workload.phases.map { _ in [] }, end: reason.map(BenchmarkResult.Outcome.skipped))
    }
  }

  /// Adds the phases to run to `tracker`.
  func plan(_ tracker: inout ProgressTracker) {
    for index in subjects.indices where records[index].end == nil {
      for phase in workload.phases { tracker.plan(row(index, phase), times: roundCount) }
    }
  }

  /// Runs all rounds, and returns whether they reached the end.
  mutating func run(_ tracker: inout ProgressTracker) async throws(CacheError) -> Bool {
    let keys = try KeySpace(length: workload.keyLength, share: context.options.share, count: workload.capacity)
    for round in 0..<roundCount {
      for index in subjects.indices where records[index].end == nil {
        guard await run(round, index, keys, &tracker) else { return false }
      }
    }
    return true
  }

  /// The results of the phases to report.
  var results: [BenchmarkResult] {
    workload.phases.indices.filter { workload.phases[$0].isMeasured }.flatMap { phase in
      subjects.indices.compactMap { result(subject: $0, phase: phase) }
    }
  }

  private var roundCount: Int { context.options.warmUpRounds + context.options.rounds }

  private func row(_ subject: Int, _ phase: WorkloadPhase) -> BenchmarkResult.Row {
    BenchmarkResult.Row(
      backend: subjects[subject].name, workload: workload.name, phase: phase.name, entries: workload.entries)
  }

  /// Runs one round over one engine, and returns whether to continue the run.
  private mutating func run(
    _ round: Int, _ index: Int, _ keys: KeySpace, _ tracker: inout ProgressTracker
  ) async -> Bool {
    do throws(CacheError) {
      let costs = try await measure(round, index, keys, &tracker)
      guard round >= context.options.warmUpRounds else { return true }
      for phase in workload.phases.indices { records[index].costs[phase].append(costs[phase]) }
      return true
    } catch {
      records[index].end = end(error)
      for phase in workload.phases { tracker.abandon(row(index, phase)) }
      return !Task.isCancelled
    }
  }

  /// The outcome to report for a failure; `nil` if it is a consequence of being cancelled.
  private func end(_ error: CacheError) -> BenchmarkResult.Outcome? {
    if error.code == .wrongAnswer { return .wrong(error.message) }
    if Task.isCancelled { return nil }
    let isInvented = error.code == .cancelled
    return .failed(isInvented ? "the engine says that a call was cancelled, which it was not" : error.description)
  }

  private func measure(
    _ number: Int, _ index: Int, _ keys: KeySpace, _ tracker: inout ProgressTracker
  ) async throws(CacheError) -> [PhaseCost] {
    let store = firstStore + (number * subjects.count + index) * workload.phases.count
    var round = try BenchmarkRound(context, workload, subjects[index], keys, number: number, storeNumber: store)
    let turn = number - context.options.warmUpRounds + 1
    let name = turn > 0 ? "round \(turn) of \(context.options.rounds)" : "warming up"
    var costs: [PhaseCost] = []
    do {
      for (phase, row) in workload.phases.map({ row(index, $0) }).enumerated() {
        tracker.begin("\(row.backend), \(row.title), \(name)")
        let start = context.probe.now()
        costs.append(try await round.run(phase))
        tracker.finish(row, seconds: Double(context.probe.now() - start) / 1e9)
      }
    } catch {
      try? await round.end()
      throw error
    }
    try await round.end()
    return costs
  }

  /// The result of a phase over an engine; `nil` if the run ended before its first round.
  private func result(subject: Int, phase: Int) -> BenchmarkResult? {
    let row = row(subject, workload.phases[phase])
    if let end = records[subject].end { return BenchmarkResult(row: row, outcome: end) }
    let costs = records[subject].costs[phase]
    return costs.isEmpty ? nil : BenchmarkResult(row: row, outcome: .measured(BenchmarkMeasurement(costs)))
  }
}

extension BenchmarkMeasurement {
  fileprivate init(_ costs: [PhaseCost]) {
    let histogram = costs.reduce(into: LatencyHistogram()) { $0.merge($1.histogram) }
    self.init(rounds: costs.map(\.round), latency: LatencySummary(histogram), histogram: histogram)
  }
}

/// The progress of a benchmark, reported before each phase of each round, and at the end.
public struct BenchmarkProgress: Sendable, Hashable {
  /// The number of phases done, over all rounds.
  public let completed: Int
  /// The number of phases in all.
  public let total: Int
  /// How long the rest will probably take, in seconds; `nil` if there is no basis for an estimate yet.
  public let secondsLeft: Double?
  /// The current work, such as "lmdb, ycsb-b run, round 2 of 5"; empty at the end.
  public let item: String

  package init(completed: Int, total: Int, secondsLeft: Double?, item: String) {
    self.completed = completed
    self.total = total
    self.secondsLeft = secondsLeft
    self.item = item
  }
}

/// Counts finished phases, reports them, and estimates the time left: a phase takes as long as its last run over the
/// same engine, or if it has not run yet, as long as the others on average.
struct ProgressTracker {
  let report: (BenchmarkProgress) -> Void

  private var completed = 0
  private var total = 0
  private var left: [BenchmarkResult.Row: Int] = [:]
  private var seconds: [BenchmarkResult.Row: Double] = [:]

  init(_ report: @escaping (BenchmarkProgress) -> Void) { self.report = report }

  /// Adds a phase that will run `times` times.
  mutating func plan(_ row: BenchmarkResult.Row, times: Int) {
    left[row, default: 0] += times
    total += times
  }

  /// Reports that `item` begins.
  func begin(_ item: String) {
    report(BenchmarkProgress(completed: completed, total: total, secondsLeft: secondsLeft, item: item))
  }

  /// Records one run of the phase, which took `seconds`.
  mutating func finish(_ row: BenchmarkResult.Row, seconds: Double) {
    left[row, default: 1] -= 1
    self.seconds[row] = seconds
    completed += 1
  }

  /// Records that the phase will not run any more.
  mutating func abandon(_ row: BenchmarkResult.Row) { completed += left.removeValue(forKey: row) ?? 0 }

  private var secondsLeft: Double? {
    guard !seconds.isEmpty else { return nil }
    let average = seconds.values.reduce(0, +) / Double(seconds.count)
    return left.reduce(0) { $0 + Double($1.value) * (seconds[$1.key] ?? average) }
  }
}
