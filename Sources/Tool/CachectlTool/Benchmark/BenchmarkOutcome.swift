internal import CachePresentation
internal import CacheCore
internal import EngineBenchmark
internal import EngineAPI

/// The outcome of a benchmark: its results, compared with saved ones if asked for, as a command shows them.
struct BenchmarkOutcome: OutputView {
  /// The size limit of a report file, in bytes.
  static let maximumReportSize = 256 << 20

  let report: BenchmarkReport
  let comparison: BenchmarkComparison?
  /// The name of the file with the saved results.
  let savedFile: String
  /// The engines that keep nothing: they only show the cost of measuring, and never count as the best.
  let controls: [String]

  init(report: BenchmarkReport, controls: [String] = [], saved: (file: String, report: BenchmarkReport)? = nil) {
    self.report = report
    self.controls = controls
    savedFile = saved?.file ?? ""
    comparison = saved.map { BenchmarkComparison(saved: $0.report, now: report) }
  }

  /// Whether something is worse than in the saved report; false if there is none.
  var isWorse: Bool { comparison?.isWorse ?? false }

  /// The rows to compare with each other, in the order of their first rows.
  var groups: [BenchmarkGroup] {
    report.results.reduce(into: []) { groups, result in
      if let index = groups.firstIndex(where: { $0.title == result.row.title && $0.entries == result.row.entries }) {
        groups[index].rows.append(result)
      } else {
        groups.append(BenchmarkGroup(rows: [result], controls: controls))
      }
    }
  }

  // MARK: OutputView

  /// The document of `bench`.
  var json: JSONValue {
    let members: [JSONValue.Member] = [
      .init("environment", .object(report.environment.members)), .init("partial", .boolean(!report.isComplete)),
      .init("results", .array(report.results.map { .object($0.row.members + $0.figures(areFlat: false)) })),
    ]
    return .object(members + (comparison.map { [.init("comparison", $0.json(file: savedFile))] } ?? []))
  }

  /// The names of the members of a result.
  var columns: [String] {
    let members = BenchmarkResult.Row.members(nil) + BenchmarkResult.figures(nil, "", reason: nil, areFlat: true)
    return (members + (comparison == nil ? [] : BenchmarkComparison.members(nil))).map(\.name)
  }

  /// The results, followed by the ones that only the earlier run has. Latencies and the comparison are flat members,
  /// so that each value has its own column.
  var records: [JSONValue] {
    guard let comparison else { return report.results.map { .object($0.row.members + $0.figures(areFlat: true)) } }
    return comparison.rows.map { row in
      let result = report.results.first { $0.row == row.row }
      let figures =
        result?.figures(areFlat: true)
        ?? BenchmarkResult.figures(nil, "missing", reason: "only in the saved report", areFlat: true)
      return .object(row.row.members + figures + BenchmarkComparison.members(row))
    }
  }

  /// One line per backend, grouped by workload: the best of each group is marked if noise cannot have made it the best,
  /// and each has its ratio to the highest.
  /// Below are the reasons for missing figures, and the comparison with the earlier run.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let table = BenchmarkTable(groups, on: screen).text(on: screen, hasHeader: hasHeader)
    let notes = notes.map { $0.line(on: screen) }.joined()
    return table + notes + (comparison.map { "\n" + $0.table(on: screen, file: savedFile) } ?? "")
  }

  /// The reasons for missing figures, once per backend and workload, and the explanation of batch times.
  private var notes: [StatusLine] {
    var notes: [StatusLine] = []
    for result in report.results where result.measurement == nil {
      let text =
        "\(result.outcome.name): \(result.row.workload) by \(result.row.backend): \(result.outcome.reason ?? "")"
      let note = StatusLine([text], style: result.isFailure ? .red : .dim)
      if !notes.contains(note) { notes.append(note) }
    }
    return notes + (groups.contains(where: \.hasBatches) ? [StatusLine([BenchmarkText.batchRemark])] : [])
  }

  /// Whether the run was interrupted or had failures; otherwise the result of the comparison, or the settings.
  var status: StatusLine? {
    if !report.isComplete {
      return StatusLine(["interrupted: the results cover the rounds completed so far"], style: .yellow)
    }
    let failures = report.results.count { $0.isFailure }
    if failures > 0 {
      let results = NumberText.count(failures, "result is", "results are")
      return StatusLine(["\(results) wrong or failed: they have no figures"], style: .red)
    }
    if let comparison { return comparison.summary(file: savedFile) }
    let environment = report.environment
    return StatusLine(
      [
        "durability \(environment.durability.rawValue)", "rounds \(environment.rounds)",
        "threads \(environment.threads)", "processes \(environment.processes)", "seed \(environment.seed)",
      ] + (environment.facts["policy"].map { ["policy \($0)"] } ?? []))
  }

  /// Reasons to doubt the figures.
  var warnings: [ErrorView] {
    var warnings: [ErrorView] = []
    if report.environment.facts["build"] == "debug" {
      warnings.append(
        ErrorView(code: "debugBuild", message: "this is a debug build, whose speed says nothing", hint: "use a release")
      )
    }
    if ["tmpfs", "ramfs"].contains(report.environment.machine.fileSystem) {
      warnings.append(
        ErrorView(
          code: "storesInMemory", message: "the stores were on a file system in memory, where nothing is ever synced",
          hint: "set TMPDIR to a folder on a disk"))
    }
    return warnings + (comparison?.warnings(file: savedFile) ?? [])
  }
}

/// The rows to compare with each other: one phase of a workload with the same number of entries, each backend once.
struct BenchmarkGroup: Sendable {
  /// The rows; at least one.
  fileprivate(set) var rows: [BenchmarkResult]
  let controls: [String]

  var title: String { rows[0].row.title }
  var entries: Int { rows[0].row.entries }

  /// The title and the number of entries: "ycsb-b run, 1,000 entries".
  var heading: String { "\(title), \(NumberText.count(entries, "entry", "entries"))" }

  /// The highest throughput; 0 if there is none.
  var highest: Double { rows.map(\.speed).max() ?? 0 }

  /// The throughput to which the others have a ratio: the highest without controls, unless there are only controls.
  var best: Double {
    let best = rows.filter { !isControl($0) }.map(\.speed).max() ?? 0
    return best > 0 ? best : highest
  }

  /// The unit of the latencies: "an operation", or "a batch of 1,000 operations" if that is what the backends do per
  /// call.
  var measuredCall: String { BenchmarkText.call(rows.compactMap(\.measurement?.operationsPerCall).max() ?? 1) }

  /// Whether some calls did several operations.
  var hasBatches: Bool { rows.contains { ($0.measurement?.operationsPerCall ?? 1) > 1 } }

  /// Whether the stores were bounded, so that hits are counted.
  var hasHits: Bool { rows.contains { $0.measurement?.hitRatio != nil } }

  func isControl(_ result: BenchmarkResult) -> Bool { controls.contains(result.row.backend) }

  /// Whether `result` is the best one beyond the noise: the slowest of its rounds was faster than the fastest of every
  /// other backend's. A single round says nothing about noise.
  func isBest(_ result: BenchmarkResult) -> Bool {
    guard result.speed > 0, result.speed == best, let figures = result.measurement else { return false }
    let others = rows.filter { $0.row != result.row && (!isControl($0) || isControl(result)) && $0.speed > 0 }
    return others.allSatisfy { other in
      guard let own = figures.throughput, let its = other.measurement?.throughput else { return false }
      return figures.rounds.count > 1 && own.minimum > its.maximum
    }
  }
}

extension BenchmarkResult.Row {
  /// The members of a document that identify the row.
  var members: [JSONValue.Member] { Self.members(self) }

  /// The same members; null without a row.
  fileprivate static func members(_ row: Self?) -> [JSONValue.Member] {
    [
      .init("backend", JSONValue(row?.backend)), .init("workload", JSONValue(row?.workload)),
      .init("phase", JSONValue(row?.phase)), .init("entries", JSONValue(row?.entries)),
    ]
  }
}

extension BenchmarkResult {
  /// The throughput; 0 if it was not measured.
  var speed: Double { measurement?.throughput?.median ?? 0 }

  /// The figures of a row as members of its document; its backend, workload, phase and entries are not among them.
  ///
  /// - Parameter areFlat: whether each latency is a member of its own, instead of a member of an object.
  func figures(areFlat: Bool) -> [JSONValue.Member] {
    Self.figures(measurement, outcome.name, reason: outcome.reason, areFlat: areFlat)
  }

  /// The same members for `cost`; null without it.
  fileprivate static func figures(
    _ cost: BenchmarkMeasurement?, _ outcome: String, reason: String?, areFlat: Bool
  ) -> [JSONValue.Member] {
    let throughput = cost?.throughput
    let latencies = [
      ("p50", cost?.latency.p50), ("p90", cost?.latency.p90), ("p99", cost?.latency.p99),
      ("p999", cost?.latency.p999), ("max", cost?.latency.max),
    ].map { JSONValue.Member($0.0 + (areFlat ? "Microseconds" : ""), number($0.1.map { Double($0) / 1_000 })) }
    return [
      .init("outcome", .string(outcome)), .init("operations", JSONValue(cost?.operations)),
      .init("seconds", number(cost?.seconds)), .init("operationsPerSecond", number(throughput?.median)),
      .init("lowestOperationsPerSecond", number(throughput?.minimum)),
      .init("highestOperationsPerSecond", number(throughput?.maximum)),
      .init("operationsPerCall", JSONValue(cost?.operationsPerCall)), .init("hitRatio", number(cost?.hitRatio)),
    ] + (areFlat ? latencies : [.init("latencyMicroseconds", cost == nil ? .null : .object(latencies))]) + [
      .init("storageBytes", JSONValue(cost?.storageBytes)), .init("peakMemoryBytes", JSONValue(cost?.peakMemoryBytes)),
      .init("processorSeconds", number(cost?.processorSeconds)), .init("reason", JSONValue(reason)),
    ]
  }
}

/// The number `value`, or null.
func number(_ value: Double?) -> JSONValue { value.map(JSONValue.double) ?? .null }

extension BenchmarkEnvironment {
  /// The members of the document, the most interesting first.
  var members: [JSONValue.Member] {
    let program = ["program", "build"].map { JSONValue.Member($0, JSONValue(facts[$0])) }
    return [.init("date", JSONValue(time: date.sinceEpoch))] + program + [
      .init("processor", .string(machine.processor)), .init("processors", .integer(machine.processors)),
      .init("memoryBytes", .integer(machine.memoryBytes)), .init("kernel", .string(machine.kernel)),
      .init("fileSystem", .string(machine.fileSystem)),
      .init("engines", .array(engines.map(\.json))), .init("durability", .string(durability.rawValue)),
      .init("rounds", .integer(rounds)), .init("warmUpRounds", .integer(warmUpRounds)),
      .init("threads", .integer(threads)), .init("processes", .integer(processes)),
      // A seed can exceed what JSON readers accept as a whole number.
      .init("seed", .string(String(seed))), .init("targetRate", number(targetRate)),
      .init("policy", JSONValue(facts["policy"])),
    ]
  }

  /// The members as texts for people, without unknown values.
  var texts: [(name: String, text: String)] {
    let labels = [
      "memoryBytes": "main memory", "fileSystem": "file system", "warmUpRounds": "warm-up rounds",
      "targetRate": "target rate",
    ]
    return members.map { member in
      let text =
        switch member.name {
        case "memoryBytes": ByteCountText.text(machine.memoryBytes)
        case "engines": engines.map(\.text).joined(separator: ", ")
        default: CSVText.field(member.value)
        }
      return (labels[member.name] ?? member.name, text)
    }.filter { !$0.text.isEmpty }
  }
}

extension BenchmarkEnvironment.Engine {
  fileprivate var json: JSONValue {
    ["name": .string(name), "version": .string(version), "hasDurability": .boolean(hasDurability)]
  }

  fileprivate var text: String { "\(name) \(version)" + (hasDurability ? "" : " (without durability)") }
}
