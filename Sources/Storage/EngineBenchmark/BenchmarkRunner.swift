public import CacheBase
internal import EngineAPI

/// Runs workloads over engines in interleaved rounds: A, B, C, A, B, C and so on. Disturbances on the machine then affect
/// all engines alike. Each round of each engine has its own store.
///
/// Every answer is checked against the written entries. The values are functions of the key and its version, and are
/// checked in place at the speed of memory: choosing, timing, checking and recording a read of 100 bytes takes 0.3 to 0.4
/// microseconds more processor time than the read alone, two thirds of it outside the timed part. The memory engine shows
/// this in every report.
public struct BenchmarkRunner: Sendable {
  let options: BenchmarkOptions
  let actions: BenchmarkActions
  let probe: BenchmarkProbe
  private let subjects: [BenchmarkSubject]
  private let workloads: [Workload]
  private let facts: [JSONValue.Member]
  let begin: @Sendable (BenchmarkProgress) async throws(CacheError) -> Void

  /// A run.
  ///
  /// - Parameters:
  ///   - subjects: the engines, in the order of their turns.
  ///   - workloads: the work.
  ///   - options: how to run them.
  ///   - actions: the parts of the workloads that this module does not know.
  ///   - probe: how to measure.
  ///   - facts: further facts for the environment of the report, such as the version of the program.
  ///   - begin: called before each phase of each round, on the task of the run. The phase begins when it returns: several
  ///     processes wait there for each other.
  public init(
    subjects: [BenchmarkSubject], workloads: [Workload], options: BenchmarkOptions,
    actions: BenchmarkActions = BenchmarkActions(), probe: BenchmarkProbe = .system, facts: [JSONValue.Member] = [],
    begin: @escaping @Sendable (BenchmarkProgress) async throws(CacheError) -> Void = { _ in }
  ) {
    self.subjects = subjects
    self.workloads = workloads
    self.options = options
    self.actions = actions
    self.probe = probe
    self.facts = facts
    self.begin = begin
  }

  /// Runs everything. The failure of an engine is in its results, and the other engines continue. If the task is
  /// cancelled, stores are closed and removed, and the report has the measurements so far.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if an option is out of range or a subject rejects its
  ///   values, `failed` if threads cannot be started.
  public func run() async throws(CacheError) -> BenchmarkReport {
    try options.validate()
    for subject in subjects { _ = try subject.configuration(options, number: 0) }
    var threads: [WorkerThread] = []
    defer { for thread in threads { thread.stop() } }
    for _ in 0..<options.threads { threads.append(try WorkerThread()) }
    var (series, phases) = plannedSeries(threads)
    var report = BenchmarkReport(environment: environment, results: [], isComplete: true)
    for index in series.indices where report.isComplete {
      report.isComplete = try await series[index].run(total: phases)
      report.results += series[index].results
    }
    return report
  }

  /// The series of the run, and the number of their phases.
  private func plannedSeries(_ threads: [WorkerThread]) -> (series: [BenchmarkSeries], phases: Int) {
    var series: [BenchmarkSeries] = []
    var phases = 0
    for workload in workloads {
      for entries in options.entries.isEmpty ? [workload.entries] : options.entries {
        let applied = options.applied(to: workload, entries: entries)
        series.append(BenchmarkSeries(self, applied, subjects, threads, firstPhase: phases))
        phases += (options.rounds + options.warmUpRounds) * subjects.count * workload.phases.count
      }
    }
    return (series, phases)
  }

  private var environment: JSONValue {
    let engines = subjects.map { JSONValue.Member($0.name, .string($0.plugin.declaration.version)) }
    let settings: [JSONValue.Member] = [
      .init("engines", .object(engines)), .init("durability", .string(options.durability.rawValue)),
      .init("withoutDurability", JSONValue(subjects.filter { !$0.hasDurability }.map(\.name))),
      .init("rounds", .integer(options.rounds)), .init("warmUpRounds", .integer(options.warmUpRounds)),
      .init("threads", .integer(options.threads)), .init("processes", .integer(options.processes)),
      // A seed can exceed the whole numbers of JSON readers.
      .init("seed", .string(String(options.seed))), .init("operations", JSONValue(options.operations)),
      .init("valueSize", JSONValue(options.valueSize)),
    ]
    let machine = SystemFacts.machine(folder: options.scratchFolder)
    return .object([.init("date", .string(options.date.text))] + facts + machine + settings)
  }
}

/// The progress of a benchmark.
public struct BenchmarkProgress: Sendable, Hashable {
  /// The number of the phase that begins, from 0. It grows, and is the same in every process of a run; the phases of an
  /// engine that cannot run a workload have numbers, too.
  public let phase: Int
  /// The number of phases in all.
  public let total: Int
  /// The name of the phase, such as "lmdb, ycsb-b run, round 2 of 5".
  public let item: String

  /// The progress of a run of `total` phases.
  public init(phase: Int, total: Int, item: String) {
    self.phase = phase
    self.total = total
    self.item = item
  }
}

/// All rounds of one workload with one number of entries, over all engines.
struct BenchmarkSeries {
  /// The results of one engine so far.
  private struct Record {
    let subject: BenchmarkSubject
    /// The cost of each phase.
    var costs: [BenchmarkMeasurement]
    /// Why no more rounds follow; `nil` if they do.
    var end: BenchmarkResult.Outcome?
  }

  private let runner: BenchmarkRunner
  private let workload: Workload
  private let threads: [WorkerThread]
  private let firstPhase: Int
  private var records: [Record]

  /// - Parameter firstPhase: the number of the first phase in the run.
  init(
    _ runner: BenchmarkRunner, _ workload: Workload, _ subjects: [BenchmarkSubject], _ threads: [WorkerThread],
    firstPhase: Int
  ) {
    self.runner = runner
    self.workload = workload
    self.threads = threads
    self.firstPhase = firstPhase
    records = subjects.map { subject in
      let reason = subject.reasonToSkip(workload, runner.options, runner.actions)
      return Record(
        subject: subject, costs: workload.phases.map { _ in BenchmarkMeasurement() },
        end: reason.map(BenchmarkResult.Outcome.skipped))
    }
  }

  /// The results of the phases to report.
  var results: [BenchmarkResult] {
    workload.phases.indices.filter { workload.phases[$0].isMeasured }.flatMap { phase in
      records.compactMap { record in
        // Without a round, the run was cancelled before the first one ended.
        if record.end == nil, record.costs[phase].rounds.isEmpty { return nil }
        return BenchmarkResult(
          row: row(record.subject, workload.phases[phase]), outcome: record.end ?? .measured(record.costs[phase]))
      }
    }
  }

  /// Runs all rounds, and returns whether they reached the end.
  ///
  /// - Parameter total: the number of phases of the run.
  mutating func run(total: Int) async throws(CacheError) -> Bool {
    let options = runner.options
    let keys = try KeySpace(length: workload.keyLength, process: options.process, count: workload.entries)
    for round in 0..<options.warmUpRounds + options.rounds {
      for index in records.indices where records[index].end == nil {
        do throws(CacheError) {
          let costs = try await measure(round, index, keys, total: total)
          if round < options.warmUpRounds { continue }
          for phase in costs.indices { records[index].costs[phase].add(costs[phase]) }
        } catch {
          if Task.isCancelled, error.code != .wrongAnswer { return false }
          records[index].end = Self.end(error)
        }
      }
    }
    return true
  }

  private func row(_ subject: BenchmarkSubject, _ phase: WorkloadPhase) -> BenchmarkResult.Row {
    BenchmarkResult.Row(
      backend: subject.name, workload: workload.name, phase: phase.name, entries: workload.entries)
  }

  /// The outcome to report for a failure.
  private static func end(_ error: CacheError) -> BenchmarkResult.Outcome {
    switch error.code {
    case .wrongAnswer: .wrong(error.message)
    case .cancelled: .failed("the engine says that a call was cancelled, which it was not")
    default: .failed(error.description)
    }
  }

  /// Runs all phases once over one engine. Each load begins with an empty store.
  private func measure(
    _ round: Int, _ index: Int, _ keys: KeySpace, total: Int
  ) async throws(CacheError) -> [BenchmarkMeasurement] {
    let subject = records[index].subject
    let turn = round - runner.options.warmUpRounds + 1
    let name = turn > 0 ? "round \(turn) of \(runner.options.rounds)" : "warming up"
    let firstPhase = firstPhase + (round * records.count + index) * workload.phases.count
    var costs: [BenchmarkMeasurement] = []
    var store: RoundStore?
    do throws(CacheError) {
      for (number, phase) in workload.phases.enumerated() {
        let progress = BenchmarkProgress(
          phase: firstPhase + number, total: total, item: "\(subject.name), \(row(subject, phase).title), \(name)")
        if phase.isLoad {
          try await store?.remove()
          store = try RoundStore(runner, workload, subject, keys, threads, number: progress.phase)
        }
        var random = SeededGenerator(seed: runner.options.seed, path: round, number)
        guard let cost = try await store?.run(phase, seed: random.next(), progress) else { break }
        costs.append(cost)
      }
    } catch {
      try? await store?.remove()
      throw error
    }
    try await store?.remove()
    return costs
  }
}
