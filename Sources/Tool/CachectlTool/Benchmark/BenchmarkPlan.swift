internal import CacheDomain
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

/// A benchmark that is ready to run.
struct BenchmarkPlan: Sendable {
  let settings: BenchmarkSettings
  let subjects: [BenchmarkSubject]
  let workloads: [Workload]
  let saved: BenchmarkReport?
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
    return BenchmarkOutcome(report: report, controls: controls, savedFile: settings.saved?.file, saved: saved)
  }

  private var facts: [String: String] {
    #if DEBUG
      var facts = ["program": settings.program, "build": "debug"]
    #else
      var facts = ["program": settings.program, "build": "release"]
    #endif
    // The settings that override the workloads: without them, rows of the same name would pass for the same work.
    facts["operations"] = settings.operations.map(String.init)
    facts["valueSize"] = settings.valueSize.map(String.init)
    return facts
  }

  func options(_ place: BenchmarkPlace) -> BenchmarkOptions {
    let milliseconds = place.date / .milliseconds(1)
    var options = BenchmarkOptions(
      scratchFolder: place.scratchFolder, runName: place.runName, date: Timestamp(milliseconds: Int64(milliseconds)))
    options.entries = settings.entries
    options.operations = settings.operations
    options.valueSize = settings.valueSize.map(SizeDistribution.constant)
    (options.threads, options.rounds, options.seed) = (settings.threads, settings.rounds, settings.seed)
    options.targetRate = settings.rate
    options.durability = StorageSPI.Durability(rawValue: settings.durability.rawValue) ?? .normal
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
