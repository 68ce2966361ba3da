internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation
internal import EngineBenchmark

/// `bench`.
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure storage engines against each other",
    discussion: """
      All engines do the same operations in the same order, in turns, with the same durability, on scratch stores in \
      the folder for temporary files (TMPDIR). Every answer is checked: a wrong one makes the status 1, and \
      its speed does not count. The memory engine is the control: it shows what the measuring itself costs.

      Workloads: ycsb-a to ycsb-f, fill, read, typed, typed-repeated, full, scan, expire, open, articles. Without \
      --workload it is a selection that takes about a minute.

      With --compare the status is 1 if something is worse than in FILE, beyond the noise of both runs. Runs of fewer \
      than five rounds cannot be compared.

      Examples:
        cachectl bench
        cachectl bench --backends sqlite,lmdb --workload ycsb-a --threads 4
        cachectl bench --workload read --entries 1k,10k,100k --report bench.html
        cachectl bench --workload full --policy s3-fifo
        cachectl bench --workload ycsb-b --save before.json
        cachectl bench --workload ycsb-b --compare before.json
      """)

  @Option(
    help: ArgumentHelp("The engines, by name or path of the library (default: all built in)", valueName: "a,b,..."),
    completion: .backends)
  var backends: NameList?

  @Option(
    help: ArgumentHelp("Run the workload NAME", valueName: "name"),
    completion: .list(WorkloadCatalogue.names))
  var workload: [String] = []

  @OptionGroup
  var options: BenchmarkFlags

  @OptionGroup
  var files: BenchmarkFiles

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    var plan = try plan()
    if let share = ProcessEnvironment.benchmarkShare, plan.options.join(share) { return try await plan.runShare() }
    let results = try files.begin()
    let outcome = try await Benchmark(plan, global).run()
    let shown = Result { try global.show(outcome) }
    try results.finish(outcome)
    try shown.get()
    if let path = files.save, !outcome.report.isComplete {
      global.remark(StatusLine(["\(path) was not written: an incomplete run cannot be compared"], style: .yellow))
    }
    if outcome.report.isComplete, outcome.report.hasFailure || outcome.isWorse { throw ExitCode.failure }
  }

  private func plan() throws -> BenchmarkPlan {
    let (workloads, saved) = (try workload.map(named), try files.saved())
    let names = backends?.names ?? []
    let session = try Session(global, naming: names.map { EngineReference($0, flag: "--backends") })
    let only = global.backend == nil ? [] : [session.configuration.backend]
    var plan = try BenchmarkPlan(
      session.container, backends: names.isEmpty ? only : names.map(EngineName.name), workloads: workloads,
      options: options.settings)
    (plan.processes, plan.program, plan.saved) = (options.processes, "cachectl \(Cachectl.version)", saved)
    if let policy = options.policy {
      guard plan.isBounded else {
        throw ValidationError("--policy goes with --workload full: no other store gets full")
      }
      plan.policy = try Cachectl.current.policy(named: policy, "--policy")
    }
    return plan
  }

  private func named(_ name: String) throws(ValidationError) -> Workload {
    if let workload = WorkloadCatalogue.workload(named: name) { return workload }
    let nearest = WorkloadCatalogue.nearestName(to: name).map { "; the nearest is \($0)" } ?? ""
    throw ValidationError(
      "--workload: there is no workload '\(name)': give one of "
        + "\(WorkloadCatalogue.names.joined(separator: ", "))\(nearest)")
  }
}
