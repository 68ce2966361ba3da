internal import ArgumentParser
internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation
internal import StorageBenchmark

/// `bench`.
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure storage engines against each other",
    discussion: """
      All engines do the same operations in the same order, in turns, with the same durability, on scratch stores in \
      the folder for temporary files (TMPDIR). Every answer is checked: a wrong one makes the status 1, and \
      its speed does not count. The memory engine is the control: it shows what the measuring itself costs.

      Workloads: ycsb-a to ycsb-f, fill, read, typed, typed-repeated, scan, expire, open, articles. Without \
      --workload it is a selection that takes about a minute. A file with a workload of your own is named by a path \
      with a slash, or one that ends in .json.

      With --compare the status is 1 if something is worse than in FILE, beyond the noise of both runs. Runs of fewer \
      than five rounds cannot be compared.

      Examples:
        cachectl bench
        cachectl bench --backends sqlite,lmdb --workload ycsb-a --threads 4
        cachectl bench --workload read --entries 1k,10k,100k --report bench.html
        cachectl bench --workload ycsb-b --save before.json
        cachectl bench --workload ycsb-b --compare before.json
      """)

  @Option(
    help: ArgumentHelp("The engines, by name or path of the library (default: all built in)", valueName: "a,b,..."),
    completion: .backends)
  var backends: NameList?

  @Option(
    help: ArgumentHelp("Run the workload NAME, or that in FILE", valueName: "name|file"),
    completion: .list(WorkloadCatalogue.names))
  var workload: [String] = []

  @OptionGroup
  var options: BenchmarkFlags

  @OptionGroup
  var files: BenchmarkFiles

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    if let place = BenchmarkPlace.ofProcess { return try await runShare(place) }
    let benchmark = Benchmark(plan: try plan(), processes: options.processes, global: global)
    let results = try files.begin()
    let outcome = try await benchmark.run()
    let shown = Result { try global.show(outcome) }
    try results.finish(outcome)
    try shown.get()
    if let path = files.save, !outcome.isComplete {
      global.remark(StatusLine(["\(path) was not written: an incomplete run cannot be compared"], style: .yellow))
    }
    if outcome.isComplete, outcome.hasFailure || outcome.isWorse { throw ExitCode.failure }
  }

  /// Runs this process's share of a benchmark by several processes.
  private func runShare(_ place: BenchmarkPlace) async throws {
    try await ShareOfBenchmark(plan: try plan(), place: place).run()
  }

  private func plan() throws -> BenchmarkPlan {
    var settings = options.settings
    for name in workload { settings.workloads.append(try WorkloadArgument(name).source()) }
    settings.saved = try files.saved()
    let names = backends?.names ?? []
    let session = try Session(global, naming: names.map { EngineReference($0, flag: "--backends") })
    let only = global.backend == nil ? [] : [session.configuration.backend]
    settings.backends = names.isEmpty ? only : names.map(EngineName.name)
    return try session.container.makeBenchmarkPresenter().plan(settings)
  }
}

/// A workload as the command line names it.
private struct WorkloadArgument {
  private let text: String

  init(_ text: String) { self.text = text }

  func source() throws -> BenchmarkSettings.Source {
    if text.contains("/") || text.hasSuffix(".json") {
      let bytes = try InputFile.bytes(of: text, limit: WorkloadReader.maximumFileSize)
      return .file(name: text, bytes: bytes)
    }
    guard !WorkloadCatalogue.names.contains(text) else { return .builtIn(text) }
    let nearest = WorkloadCatalogue.nearestName(to: text).map { "; the nearest is \($0)" } ?? ""
    throw ValidationError(
      "--workload: there is no workload '\(text)': give one of "
        + "\(WorkloadCatalogue.names.joined(separator: ", "))\(nearest), or the path of a file")
  }
}
