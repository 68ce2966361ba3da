internal import CachePresentation
internal import EngineBenchmark

/// A figure of a result, in the table on a screen and in the one of the page.
struct BenchmarkColumn: Sendable {
  let title: String
  /// How much the column matters on a screen; `nil` if it is only in the page.
  var priority: Int?
  /// Whether the column says something about `groups`.
  var isNeeded: @Sendable (_ groups: [BenchmarkGroup]) -> Bool = { _ in true }
  /// The text of the figure; `nil` if it is unknown.
  let text: @Sendable (BenchmarkMeasurement, _ speed: Double, _ best: Double) -> String?

  private static let all = [
    BenchmarkColumn(title: "Throughput", priority: 1) { _, speed, _ in BenchmarkText.rate(speed) },
    BenchmarkColumn(title: "Ratio", priority: 0) { _, speed, best in BenchmarkText.ratio(speed, to: best) },
    BenchmarkColumn(title: "Spread", priority: -1) { cost, _, _ in BenchmarkText.spread(cost.throughput) },
    BenchmarkColumn(title: "Hits", priority: 0, isNeeded: hasHits) { cost, _, _ in
      cost.hitRatio.map(BenchmarkText.precisePercentage)
    },
    BenchmarkColumn(title: "Longest", priority: 0, isNeeded: hasHits) { cost, _, _ in
      cost.hitRatio.map { _ in BenchmarkText.latency(cost, 100) }
    },
    BenchmarkColumn(title: "Batch", priority: 0, isNeeded: { $0.contains(where: \.hasBatches) }) { cost, _, _ in
      cost.operationsPerCall > 1 ? NumberText.text(cost.operationsPerCall) : ""
    },
    BenchmarkColumn(title: "p50", priority: -2) { cost, _, _ in BenchmarkText.latency(cost, 50) },
    BenchmarkColumn(title: "p90") { cost, _, _ in BenchmarkText.latency(cost, 90) },
    BenchmarkColumn(title: "p99", priority: 0) { cost, _, _ in BenchmarkText.latency(cost, 99) },
    BenchmarkColumn(title: "p99.9", priority: -4) { cost, _, _ in BenchmarkText.latency(cost, 99.9) },
    BenchmarkColumn(title: "max") { cost, _, _ in BenchmarkText.latency(cost, 100) },
    BenchmarkColumn(title: "Disk", priority: -3) { cost, _, _ in ByteCountText.text(cost.storageBytes) },
    BenchmarkColumn(title: "Memory", priority: -5) { cost, _, _ in cost.peakMemoryBytes.map(ByteCountText.text) },
    BenchmarkColumn(title: "Processor") { cost, _, _ in BenchmarkText.time(cost.processorSeconds * 1e6) },
  ]

  private static let hasHits: @Sendable ([BenchmarkGroup]) -> Bool = { $0.contains(where: \.hasHits) }

  /// The columns for `groups`, in order.
  static func columns(for groups: [BenchmarkGroup]) -> [BenchmarkColumn] { all.filter { $0.isNeeded(groups) } }
}

/// The results for people: rows to compare are listed below each other.
struct BenchmarkTable: Sendable {
  private let groups: [BenchmarkGroup]
  private let figures: [BenchmarkColumn]

  init(_ groups: [BenchmarkGroup]) {
    self.groups = groups
    figures = BenchmarkColumn.columns(for: groups).filter { $0.priority != nil }
  }

  /// The table. If the screen is too narrow, the least important columns are left out.
  func text(on screen: Screen, hasHeader: Bool) -> String {
    let barWidth = !screen.isTerminal ? 0 : screen.width ?? 100 < 100 ? 8 : 12
    var columns: [Table.Column] = [
      .init("Workload", priority: 1, isShrinkable: true, minimum: 20), .init("Entries", .right),
      .init("Backend", priority: 1),
    ]
    if barWidth > 0 { columns.append(.init("")) }
    for figure in figures {
      columns.append(.init(figure.title, .right, priority: figure.priority ?? 0))
      // The mark of the best.
      if figure.title == "Throughput" { columns.append(.init("")) }
    }
    let rows = groups.flatMap { group in
      group.rows.enumerated().map { index, row in
        let heading = index == 0 ? [group.title, NumberText.text(group.entries)] : ["", ""]
        return heading.map { Table.Cell($0) } + cells(row, of: group, barWidth: barWidth)
      }
    }
    return Table(columns, rows: rows).text(on: screen, hasHeader: hasHeader)
  }

  private func cells(_ row: BenchmarkResult, of group: BenchmarkGroup, barWidth: Int) -> [Table.Cell] {
    let isBest = group.isBest(row)
    let style: TextStyle = isBest ? .green : row.isFailure ? .red : group.isControl(row) ? .dim : .plain
    var cells = [Table.Cell(row.row.backend, style)]
    if barWidth > 0 { cells.append(Table.Cell(Self.bar(group.share(row), width: barWidth), style)) }
    guard let cost = row.measurement else {
      return cells + [Table.Cell(row.outcome.name, row.isFailure ? .red : .dim)] + figures.map { _ in "" }
    }
    for figure in figures {
      let text = figure.text(cost, row.speed, group.best)
      switch figure.title {
      case "Throughput": cells += [Table.Cell(text ?? "", style), Table.Cell(isBest ? "*" : "", style)]
      case "Spread": cells.append(Table.Cell(text ?? "", .dim))
      default: cells.append(Table.Cell(text))
      }
    }
    return cells
  }

  /// A bar of whole and eighth blocks, which takes `share` of `width` cells.
  private static func bar(_ share: Double, width: Int) -> String {
    let eighths = Int((share * Double(width) * 8).rounded(.up))
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }
}

/// Formats benchmark figures with three digits.
enum BenchmarkText {
  /// The explanation of the column "Batch".
  static let batchRemark =
    "Batch: how many operations a call of the engine does; times are of one call"

  /// A throughput: "2.85 M/s", "228 k/s", "93.1 /s".
  static func rate(_ perSecond: Double) -> String {
    switch perSecond {
    case ..<999.5: "\(digits(perSecond)) /s"
    case ..<999_500: "\(digits(perSecond / 1e3)) k/s"
    default: "\(digits(perSecond / 1e6)) M/s"
    }
  }

  /// A time, given in microseconds: "350 ns", "12.3 µs", "1.24 ms", "2.50 s".
  static func time(_ microseconds: Double) -> String {
    switch microseconds {
    case ..<0.9995: "\(digits(microseconds * 1e3)) ns"
    case ..<999.5: "\(digits(microseconds)) µs"
    case ..<999_500: "\(digits(microseconds / 1e3)) ms"
    default: "\(digits(microseconds / 1e6)) s"
    }
  }

  /// A percentile of the latencies.
  static func latency(_ cost: BenchmarkMeasurement, _ percentage: Double) -> String {
    time(Double(cost.latencies.percentile(percentage)) / 1_000)
  }

  /// A ratio to the highest: "1.00", "0.08".
  static func ratio(_ value: Double, to best: Double) -> String {
    best > 0 ? NumberText.decimal(value / best, places: 2) : "-"
  }

  /// The spread of the rounds: "±4 %", half the distance between the slowest and the fastest.
  static func spread(_ throughput: Spread?) -> String {
    guard let throughput, throughput.median > 0 else { return "-" }
    return "±\(percentage((throughput.maximum - throughput.minimum) / 2 / throughput.median))"
  }

  /// A share of 0 or more, to compare: "64.2 %".
  static func precisePercentage(_ share: Double) -> String { "\(NumberText.decimal(share * 100, places: 1)) %" }

  /// A share of 0 or more: "4 %".
  static func percentage(_ share: Double) -> String { "\(NumberText.decimal(share * 100, places: 0)) %" }

  /// A change as a share: "+4 %", "-12 %".
  static func change(_ share: Double) -> String { (share < 0 ? "-" : "+") + percentage(abs(share)) }

  /// The changes between which a difference is noise: "-9/+10 %". They are not symmetric: a result that becomes a tenth
  /// slower must become a ninth faster to be as before.
  static func noise(_ noise: Double) -> String {
    let slower = (1 - 1 / (1 + noise)) * 100
    return "-\(NumberText.decimal(slower, places: 0))/+\(percentage(noise))"
  }

  private static func digits(_ number: Double) -> String {
    NumberText.decimal(number, places: number < 9.995 ? 2 : number < 99.95 ? 1 : 0)
  }
}
