internal import CacheComposition
internal import FetchVocabulary
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

/// What a benchmark should do, as given on the command line.
struct BenchmarkSettings: Sendable {
  /// A workload.
  enum Source: Sendable {
    /// A built-in workload.
    case builtIn(String)
    /// The contents of a file.
    case file(name: String, bytes: [UInt8])
  }

  /// The size limit of a report file, in bytes.
  static let maximumReportSize = 256 << 20

  /// The names of the engines, in the order of their turns; empty for all built-in engines.
  var backends: [String] = []
  /// The workloads, in order; empty for a selection that takes about a minute.
  var workloads: [Source] = []
  /// How to run them. The place of a run replaces the place in these options.
  var options = BenchmarkOptions()
  /// The number of processes, within `BenchmarkShare.countRange`.
  var processes = 1
  /// The name and version of the program for the report.
  var program = "cachectl"
  /// The saved report of an earlier run, for comparison; `nil` for none.
  var saved: (file: String, bytes: [UInt8])?

  /// The defaults.
  init() {}
}

/// Benchmarks engines against each other.
struct BenchmarkPresenter: Sendable {
  /// The workloads of a benchmark that names none, with numbers of entries and operations unless it sets them. Each
  /// answers a different question; all built-in engines together take less than a minute.
  static let standardWorkloads = [
    ("fill", entries: 100, operations: 100), ("read", entries: 10_000, operations: 20_000),
    ("typed", entries: 1_000, operations: 5_000), ("typed-repeated", entries: 500, operations: 20_000),
    ("ycsb-b", entries: 1_000, operations: 2_000), ("articles", entries: 100, operations: 2_000),
  ]

  private let container: AppDIContainer

  init(container: AppDIContainer) { self.container = container }

  /// Resolves everything that `settings` name, so that a run cannot fail later for a reason known before it.
  ///
  /// - Throws: `CacheError`: `unknownBackend`; `malformed` for a file with a mistake, with its place in the message.
  func plan(_ settings: BenchmarkSettings) throws(CacheError) -> BenchmarkPlan {
    var workloads: [Workload] = []
    for source in settings.workloads { workloads.append(try workload(source)) }
    if workloads.isEmpty { workloads = try standardWorkloads() }
    let saved = try settings.saved.map { file, bytes throws(CacheError) in (file, try Self.report(bytes, file)) }
    return BenchmarkPlan(
      settings: settings, subjects: try subjects(settings), workloads: workloads, saved: saved, date: container.now)
  }

  private func standardWorkloads() throws(CacheError) -> [Workload] {
    var workloads: [Workload] = []
    for (name, entries, operations) in Self.standardWorkloads {
      var workload = try workload(.builtIn(name))
      (workload.entries, workload.operations) = (entries, operations)
      workloads.append(workload)
    }
    return workloads
  }

  private func subjects(_ settings: BenchmarkSettings) throws(CacheError) -> [BenchmarkSubject] {
    let names = settings.backends.isEmpty ? BackendsPresenter.programNames : settings.backends
    var subjects: [BenchmarkSubject] = []
    for name in names where !subjects.contains(where: { $0.name == name }) {
      let plugin = try container.catalogue.plugin(named: name)
      subjects.append(BenchmarkSubject(plugin: plugin, values: container.configuration.options(of: name)))
    }
    return subjects
  }

  private func workload(_ source: BenchmarkSettings.Source) throws(CacheError) -> Workload {
    let found: Workload? =
      switch source {
      case .file(let name, let bytes): try WorkloadReader.read(bytes, file: name)
      case .builtIn(let name): try WorkloadCatalogue.workload(named: name)
      }
    if let found { return found }
    throw CacheError(
      .invalidRequest, "there is no such workload",
      hint: "use one of: \(WorkloadCatalogue.names.joined(separator: ", "))")
  }

  static func report(_ bytes: [UInt8], _ file: String) throws(CacheError) -> BenchmarkReport {
    try BenchmarkReport(json: bytes, file: file)
  }
}

extension AppDIContainer {
  /// The presenter that benchmarks the engines.
  func makeBenchmarkPresenter() -> BenchmarkPresenter { BenchmarkPresenter(container: self) }
}

/// A benchmark that is ready to run.
struct BenchmarkPlan: Sendable {
  let settings: BenchmarkSettings
  let subjects: [BenchmarkSubject]
  let workloads: [Workload]
  let saved: (file: String, report: BenchmarkReport)?
  /// The date of the run, since 1970-01-01T00:00:00Z.
  let date: Duration

  /// The engines whose stores are on the configured servers instead of in the scratch folder.
  var servers: [String] { subjects.filter(\.hasNamedStore).map(\.name) }

  /// Runs the benchmark in this process. Cancelling the task ends it early, with the measurements made so far.
  ///
  /// - Parameter progress: called with the progress before each phase.
  /// - Throws: `CacheError`: `invalidOption` if an engine rejects its configuration, `failed` if threads cannot be
  ///   started. The outcome contains the failures of single engines.
  func run(
    in place: BenchmarkPlace, progress: @escaping @Sendable (BenchmarkStep) -> Void
  ) async throws(CacheError) -> BenchmarkOutcome {
    let runner = BenchmarkRunner(
      subjects: subjects, workloads: workloads, options: options(place), actions: try await actions(place),
      machine: .current(folder: place.scratchFolder), facts: facts, progress: { progress(BenchmarkStep($0)) })
    return outcome(try await runner.run())
  }

  /// The outcome of a run by several processes.
  ///
  /// - Parameter reports: the `BenchmarkOutcome.transferBytes` of each process.
  /// - Throws: `CacheError` with the code `malformed` if one of them is not a report.
  func merge(_ reports: [[UInt8]]) throws(CacheError) -> BenchmarkOutcome {
    var all: [BenchmarkReport] = []
    for (index, bytes) in reports.enumerated() {
      all.append(try BenchmarkPresenter.report(bytes, "the report of process \(index)"))
    }
    guard var merged = BenchmarkReport.merging(all) else { throw CacheError.cancelled }
    merged.environment.processes = settings.processes
    return outcome(merged)
  }

  private func outcome(_ report: BenchmarkReport) -> BenchmarkOutcome {
    let controls = subjects.filter { !$0.plugin.declaration.capabilities.contains(.persistent) }.map(\.name)
    return BenchmarkOutcome(report: report, controls: controls, saved: saved)
  }

  private var facts: [String: String] {
    #if DEBUG
      var facts = ["program": settings.program, "build": "debug"]
    #else
      var facts = ["program": settings.program, "build": "release"]
    #endif
    // The settings that override the workloads: without them, rows of the same name would pass for the same work.
    facts["operations"] = settings.options.operations.map(String.init)
    facts["valueSize"] = settings.options.valueSize.map { String($0.maximum) }
    return facts
  }

  func options(_ place: BenchmarkPlace) -> BenchmarkOptions {
    var options = settings.options
    (options.scratchFolder, options.runName) = (place.scratchFolder, place.runName)
    options.date = Timestamp(milliseconds: Int64(place.date / .milliseconds(1)))
    options.share = place.share.map { BenchmarkShare(index: $0.index, count: $0.count) }
    options.rendezvous = place.rendezvous
    return options
  }

  /// The actions that these workloads need; making them takes some milliseconds.
  private func actions(_ place: BenchmarkPlace) async throws(CacheError) -> BenchmarkActions {
    var actions = BenchmarkActions()
    if workloads.contains(where: { $0.payload == .typed || $0.payload == .kept }) {
      let movies = try await MoviePages.load()
      actions.typed = movies.payload
      actions.makeReader = { engine throws(CacheError) in
        movies.reader(over: engine, share: place.share?.index ?? 0, now: place.date)
      }
    }
    if workloads.contains(where: { $0.payload == .fetched }) {
      let pages = try await CityPages.load(share: place.share?.index ?? 0, now: place.date)
      actions.makeFetcher = { engine throws(CacheError) in pages.fetcher(over: engine) }
    }
    return actions
  }
}

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
