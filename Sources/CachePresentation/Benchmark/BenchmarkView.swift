/// What was measured of several backends.
public struct BenchmarkView: OutputView {
  let environment: [JSONValue.Member]
  let rows: [BenchmarkRow]
  let isPartial: Bool

  /// A view.
  ///
  /// - Parameters:
  ///   - environment: the machine, the versions and the settings, in the order in which they are shown.
  ///   - rows: the results; those that compare with each other need not stand together.
  ///   - isPartial: whether the run was interrupted before its end.
  public init(environment: [JSONValue.Member], rows: [BenchmarkRow], isPartial: Bool = false) {
    self.environment = environment
    self.rows = rows
    self.isPartial = isPartial
  }

  /// The document of `bench`.
  public var json: JSONValue {
    [
      "environment": .object(environment), "partial": .boolean(isPartial),
      "results": .array(rows.map { .object(Self.members($0, latency: Self.nested($0.latency))) }),
    ]
  }

  /// The names of the members of a result.
  public var columns: [String] {
    guard case .object(let members)? = records.first else { return [] }
    return members.map(\.name)
  }

  /// The results; the latencies lie beside the other members, so that each has a column of its own.
  public var records: [JSONValue] { rows.map { .object(Self.members($0, latency: Self.flat($0.latency))) } }

  /// A line for each backend, grouped by workload: the best of each group is marked, the others have the ratio to it.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    BenchmarkTable(BenchmarkGroup.groups(of: rows)).text(on: screen, hasHeader: hasHeader)
  }

  /// What the figures stand for.
  public var status: StatusLine? {
    let mistakes = rows.count { $0.mistake != nil }
    if mistakes > 0 {
      let results = NumberText.count(mistakes, "result has", "results have")
      return StatusLine(["\(results) wrong answers: no speed counts there"], style: .red)
    }
    if isPartial { return StatusLine(["interrupted: the results are those of the rounds until then"], style: .yellow) }
    let names = ["durability", "rounds", "threads", "seed"]
    return StatusLine(
      names.compactMap { name in
        environment.first { $0.name == name }.map { "\(name) \(CSVText.field($0.value))" }
      })
  }

  private static func members(_ row: BenchmarkRow, latency: [JSONValue.Member]) -> [JSONValue.Member] {
    let before: [JSONValue.Member] = [
      .init("backend", .string(row.backend)), .init("workload", .string(row.workload)),
      .init("phase", .string(row.phase)), .init("entries", .integer(row.entries)),
      .init("operations", .integer(row.operations)), .init("seconds", .double(row.seconds)),
      .init("operationsPerSecond", .double(row.throughput.median)),
      .init("lowestOperationsPerSecond", .double(row.throughput.lowest)),
      .init("highestOperationsPerSecond", .double(row.throughput.highest)),
    ]
    let after: [JSONValue.Member] = [
      .init("storageBytes", .integer(row.storageBytes)), .init("peakMemoryBytes", .integer(row.peakMemoryBytes)),
      .init("processorSeconds", .double(row.processorSeconds)), .init("mistake", JSONValue(row.mistake)),
    ]
    return before + latency + after
  }

  private static func nested(_ latency: BenchmarkRow.Latency) -> [JSONValue.Member] {
    [
      .init(
        "latencyMicroseconds",
        [
          "p50": .double(latency.p50), "p90": .double(latency.p90), "p99": .double(latency.p99),
          "p999": .double(latency.p999), "max": .double(latency.max),
        ])
    ]
  }

  private static func flat(_ latency: BenchmarkRow.Latency) -> [JSONValue.Member] {
    [
      .init("p50Microseconds", .double(latency.p50)), .init("p90Microseconds", .double(latency.p90)),
      .init("p99Microseconds", .double(latency.p99)), .init("p999Microseconds", .double(latency.p999)),
      .init("maxMicroseconds", .double(latency.max)),
    ]
  }
}
