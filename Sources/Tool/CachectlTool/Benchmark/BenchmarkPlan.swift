internal import CacheBase
internal import FetchVocabulary
internal import CacheCore
internal import EngineBenchmark
internal import EngineAPI
internal import CachePresentation
internal import Synchronization

/// A benchmark that is ready to run.
struct BenchmarkPlan: Sendable {
  /// The workloads of a benchmark that names none, with numbers of entries and operations unless it sets them. Each
  /// answers a different question; all built-in engines together take less than a minute.
  static let standardWorkloads = [
    ("fill", entries: 100, operations: 100), ("read", entries: 10_000, operations: 20_000),
    ("typed", entries: 1_000, operations: 5_000), ("typed-repeated", entries: 500, operations: 20_000),
    ("ycsb-b", entries: 1_000, operations: 2_000), ("articles", entries: 100, operations: 2_000),
  ]

  /// How to run the workloads, and where.
  var options: BenchmarkOptions
  /// The number of processes, within `BenchmarkShare.countRange`.
  var processes = 1
  /// The name and version of the program for the report.
  var program = "cachectl"
  /// What goes from a store that is full.
  var policy: EvictionPolicy
  /// The saved report of an earlier run, for comparison; `nil` for none.
  var saved: (file: String, report: BenchmarkReport)?
  /// The engines, in the order of their turns.
  let subjects: [BenchmarkSubject]
  private let workloads: [Workload]

  /// A benchmark of the engines called `backends`; without names, of all built-in engines whose stores are not on a server.
  ///
  /// - Parameter workloads: the workloads, in order; empty for a selection that takes about a minute.
  /// - Throws: `CacheError` with the code `unknownBackend`.
  init(
    _ container: AppDIContainer, backends: [String], workloads: [Workload], options: BenchmarkOptions
  ) throws(CacheError) {
    self.workloads = workloads.isEmpty ? Self.selection() : workloads
    self.options = options
    policy = container.configuration.cache.limits.eviction
    self.options.date = Timestamp(milliseconds: container.now.wholeMilliseconds)
    var subjects: [BenchmarkSubject] = []
    let local = container.catalogue.builtIn.filter { !$0.isOnServer }.map(\.name)
    for name in backends.isEmpty ? local : backends
    where !subjects.contains(where: { $0.name == name }) {
      let plugin = try container.catalogue.plugin(named: name)
      subjects.append(BenchmarkSubject(plugin: plugin, values: container.configuration.options(of: name)))
    }
    self.subjects = subjects
  }

  private static func selection() -> [Workload] {
    var workloads: [Workload] = []
    for (name, entries, operations) in standardWorkloads {
      guard var workload = WorkloadCatalogue.workload(named: name) else { continue }
      workload.entries = entries
      workload.operations = operations
      workloads.append(workload)
    }
    return workloads
  }

  /// Runs the benchmark in this process. Cancelling the task ends it early, with the measurements made so far.
  ///
  /// - Parameter progress: called with the progress before each phase.
  /// - Throws: `CacheError`: `invalidOption` if an engine rejects its configuration, `failed` if threads cannot be
  ///   started. The outcome contains the failures of single engines.
  func run(_ progress: @escaping @Sendable (BenchmarkProgress) -> Void) async throws(CacheError) -> BenchmarkOutcome {
    let runner = BenchmarkRunner(
      subjects: subjects, workloads: workloads, options: options, actions: try await actions(),
      machine: .current(folder: options.scratchFolder), facts: facts, progress: progress)
    return outcome(try await runner.run())
  }

  /// The outcome of a run by several processes.
  ///
  /// - Parameter reports: the report of each process, with its histograms.
  /// - Throws: `CacheError` with the code `malformed` if one of them is not a report.
  func merge(_ reports: [[UInt8]]) throws(CacheError) -> BenchmarkOutcome {
    var all: [BenchmarkReport] = []
    for (index, bytes) in reports.enumerated() {
      all.append(try BenchmarkReport(json: bytes, file: "the report of process \(index)"))
    }
    guard var merged = BenchmarkReport.merging(all) else { throw CacheError.cancelled }
    merged.environment.processes = processes
    return outcome(merged)
  }

  private func outcome(_ report: BenchmarkReport) -> BenchmarkOutcome {
    let controls = subjects.filter { !$0.plugin.declaration.capabilities.contains(.persistent) }.map(\.name)
    return BenchmarkOutcome(report: report, controls: controls, saved: saved)
  }

  private var facts: [String: String] {
    #if DEBUG
      var facts = ["program": program, "build": "debug"]
    #else
      var facts = ["program": program, "build": "release"]
    #endif
    // The settings that override the workloads: without them, rows of the same name would pass for the same work.
    facts["operations"] = options.operations.map(String.init)
    facts["valueSize"] = options.valueSize.map(String.init)
    if isBounded, policy != .lru { facts["policy"] = policy.name }
    return facts
  }

  /// The engines whose stores are on the configured servers instead of in the scratch folder.
  var servers: [String] { subjects.filter(\.hasNamedStore).map(\.name) }

  /// Whether a store gets full, so that the policy counts.
  var isBounded: Bool { workloads.contains { $0.payload == .bounded } }

  /// The actions that these workloads need; making them takes some milliseconds.
  private func actions() async throws(CacheError) -> BenchmarkActions {
    let share = options.share?.index ?? 0
    let now = options.date
    var actions = BenchmarkActions()
    if workloads.contains(where: { $0.payload == .typed || $0.payload == .kept }) {
      let movies = try await MoviePages.load()
      let makeReader: BenchmarkActions.MakeFetcher = { movies.reader(over: $0, share: share, now: now) }
      (actions.typed, actions.makeFetcher[.kept]) = (movies.payload, makeReader)
    }
    if workloads.contains(where: { $0.payload == .fetched }) {
      let pages = try await CityPages.load(share: share, now: now)
      let makeFetcher: BenchmarkActions.MakeFetcher = { pages.fetcher(over: $0.engine, $0.capabilities) }
      actions.makeFetcher[.fetched] = makeFetcher
    }
    let makeBounded: BenchmarkActions.MakeFetcher = { [policy] in BoundedReader($0, now: now, policy) }
    actions.makeFetcher[.bounded] = makeBounded
    return actions
  }
}

/// A benchmark in a scratch folder, with its progress on the terminal.
struct Benchmark {
  private var plan: BenchmarkPlan
  private let global: GlobalOptions

  init(_ plan: BenchmarkPlan, _ global: GlobalOptions) {
    self.plan = plan
    self.global = global
    // A name that no other run has.
    self.plan.options.runName = "bench-" + String(UInt64.random(in: 0 ... .max), radix: 16)
  }

  /// Runs the benchmark, in this process or in several, and always removes the scratch folder.
  func run() async throws(CacheError) -> BenchmarkOutcome {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    var plan = plan
    plan.options.scratchFolder = scratch.path
    warnOfServers()
    return try await measure(plan)
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

  /// Says which servers are used.
  private func warnOfServers() {
    guard !plan.servers.isEmpty else { return }
    global.remark(
      StatusLine(
        [
          "measures \(plan.servers.joined(separator: " and ")) on the server of the configuration",
          "its stores there begin with \(plan.options.runName), and are removed at the end; after a kill the server drops "
            + "them within a day",
        ], style: .yellow))
  }
}
