internal import CacheBase
internal import CacheCore
internal import CachePresentation
internal import CommandLineKit
internal import EngineAPI
internal import EngineBenchmark
internal import FetchVocabulary

struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure storage engines against each other",
    discussion: """
      All engines take turns at the same operations in the same order, with the same durability, on scratch stores in \
      the directory for temporary files (TMPDIR). Every result is checked. If one is wrong, the exit code is 1, and its speed \
      does not count. The memory engine is the control: it shows the cost of the measurement itself.

      Without --workload, bench runs a selection that takes about a minute. With --compare, the exit code is 1 if something is \
      worse than in FILE, beyond the noise of both runs. Runs of fewer than five rounds cannot be compared.
      """,
    examples: [
      "cachectl bench", "cachectl bench --backends sqlite,lmdb --workload ycsb-a --threads 4",
      "cachectl bench --workload read --entries 1k,10k,100k --report bench.html",
      "cachectl bench --workload full --policy s3-fifo", "cachectl bench --workload ycsb-b --save before.json",
      "cachectl bench --workload ycsb-b --compare before.json",
    ])

  @Option(
    help: ArgumentHelp(
      "Measure the engines NAME, each by its name or the path of its library (default: all built in)",
      valueName: "name,..."),
    completion: .backendLists)
  var backends: NameList?

  @Option(help: ArgumentHelp("Run the workload NAME", valueName: "name"))
  private var workload: [WorkloadName] = []

  @Option(help: ArgumentHelp("Store N entries; several counts are run one after the other", valueName: "n,..."))
  var entries: CountList?

  @Option(help: ArgumentHelp("Run N operations in each round", valueName: "n"))
  var operations: Count?

  @Option(help: ArgumentHelp("Store values of BYTES, such as 1000 or 4KiB", valueName: "bytes"))
  var valueSize: ByteCount?

  @Option(help: ArgumentHelp("Use N threads", valueName: "n"))
  var threads = 1

  @Option(help: ArgumentHelp("Use N processes on one store", valueName: "n"))
  var processes = 1

  @Option(help: ArgumentHelp("Measure N rounds, after one that is not measured", valueName: "n"))
  var rounds = 5

  @Option(help: ArgumentHelp("Use the seed N for random choices", valueName: "n"))
  var seed: UInt64 = 42

  @Option(
    help: ArgumentHelp(
      "Evict by the policy NAME in the workload full (default: the configured one)", valueName: "name"))
  private var policy: PolicyName?

  @Option(help: "Choose what a commit survives, on every engine")
  var durability = Durability.normal

  @Option(
    help: ArgumentHelp("Write the results to FILE as a page for browsers", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @Option(
    help: ArgumentHelp("Save the results to FILE, to compare with later", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var save: String?

  @Option(
    help: ArgumentHelp("Compare each result with the one in FILE", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var compare: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    do { try options.validate() } catch { throw ValidationError("--\(error.message)") }
    if let report, report == save { throw ValidationError("--report and --save name the same file, \(report)") }
  }

  func run() async throws {
    var plan = try plan()
    if let share = ProcessEnvironment.benchmarkShare, plan.options.join(share) { return try await plan.runShare() }
    let saved = try saved()
    let page = try report.map(PendingFile.init)
    let results = try save.map(PendingFile.init)
    let outcome = BenchmarkOutcome(
      report: try await plan.runInScratchFolder(global), controls: plan.controls, saved: saved)
    let shown = Result { try global.show(outcome) }
    try page?.finish(Array(BenchmarkReportPage(outcome).html.utf8))
    let isComplete = outcome.report.isComplete
    // An interrupted run keeps the saved results of an earlier one.
    if isComplete { try results?.finish(outcome.report.json) }
    try shown.get()
    if let save, !isComplete {
      global.remark(StatusLine(["\(save) was not written: an incomplete run cannot be compared"], style: .yellow))
    }
    if isComplete, outcome.report.hasFailure || outcome.isWorse { throw ExitCode.failure }
  }

  /// How to run any workload, without a place.
  private var options: BenchmarkOptions {
    var options = BenchmarkOptions()
    options.entries = entries?.numbers ?? []
    options.operations = operations?.number
    options.valueSize = valueSize?.number
    options.threads = threads
    options.processes = processes
    options.rounds = rounds
    options.seed = seed
    options.durability = durability
    return options
  }

  private func plan() throws -> BenchmarkPlan {
    let names = backends?.names ?? []
    let session = try Session(global, naming: names.map { EngineReference($0, flag: "--backends") })
    let only = global.backend == nil ? [] : [session.configuration.backend]
    var plan = try BenchmarkPlan(
      session.container, backends: names.isEmpty ? only : names.map(EngineName.name),
      workloads: workload.map(\.workload),
      options: options)
    if let policy {
      guard plan.isBounded else {
        throw ValidationError("--policy goes with --workload full: no other store gets full")
      }
      plan.policy = policy.policy
    }
    return plan
  }

  /// The report to compare with; `nil` if there is none.
  private func saved() throws(CacheError) -> (file: String, report: BenchmarkReport)? {
    guard let compare else { return nil }
    let bytes = try InputFile.bytes(of: compare, limit: BenchmarkOutcome.maximumReportSize)
    return (compare, try BenchmarkReport(json: bytes, file: compare))
  }
}

extension Durability: ExpressibleByArgument {}

private struct WorkloadName: ExpressibleByArgument {
  let workload: Workload

  init?(argument: String) {
    guard let workload = WorkloadCatalogue.workload(named: argument) else { return nil }
    self.workload = workload
  }

  static var allValueStrings: [String] { WorkloadCatalogue.names }
}

/// An eviction policy by its short or long name.
private struct PolicyName: ExpressibleByArgument {
  let policy: EvictionPolicy

  init?(argument: String) {
    let name = Spelling.shortName(for: argument) ?? argument
    guard let policy = Cachectl.current.policies.first(where: { $0.name == name }) else { return nil }
    self.policy = policy
  }

  static var allValueStrings: [String] { Cachectl.current.policies.map { $0.name } }
}
