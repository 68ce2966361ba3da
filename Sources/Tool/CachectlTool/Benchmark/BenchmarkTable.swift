internal import CachePresentation
internal import EngineBenchmark

/// The results for people: rows to compare are listed below each other.
struct BenchmarkTable: Sendable {
  private let groups: [BenchmarkGroup]
  /// The length of the longest bar in cells; 0 for no bars, if this is not a terminal.
  private let barWidth: Int
  /// Whether some calls were batches, and a column has their sizes.
  private let hasBatches: Bool
  /// Whether some stores were bounded, and columns have their shares of hits and their longest pauses.
  private let hasHits: Bool

  init(_ groups: [BenchmarkGroup], on screen: Screen) {
    self.groups = groups
    hasBatches = groups.contains(where: \.hasBatches)
    hasHits = groups.contains(where: \.hasHits)
    barWidth = !screen.isTerminal ? 0 : screen.width ?? 100 < 100 ? 8 : 12
  }

  /// The table. If the screen is too narrow, the least important columns are left out.
  func text(on screen: Screen, hasHeader: Bool) -> String {
    let rows = groups.flatMap { group in
      group.rows.enumerated().map { index, row in
        heading(group, isShown: index == 0) + cells(row, of: group)
      }
    }
    return Table(columns, rows: rows).text(on: screen, hasHeader: hasHeader)
  }

  private var columns: [Table.Column] {
    let bars: [Table.Column] = barWidth > 0 ? [.init("")] : []
    let hits: [Table.Column] = hasHits ? [.init("Hits", .right), .init("Longest", .right)] : []
    let batch: [Table.Column] = hasBatches ? [.init("Batch", .right)] : []
    let figures: [Table.Column] = [
      .init("Throughput", .right, priority: 1), .init(""), .init("Ratio", .right),
      .init("Spread", .right, priority: -1),
    ]
    let details: [Table.Column] = [
      .init("p50", .right, priority: -2), .init("p99", .right), .init("p99.9", .right, priority: -4),
      .init("Disk", .right, priority: -3), .init("Memory", .right, priority: -5),
    ]
    return [
      .init("Workload", priority: 1, isShrinkable: true, minimum: 20), .init("Entries", .right),
      .init("Backend", priority: 1),
    ] + bars + figures + hits + batch + details
  }

  private func heading(_ group: BenchmarkGroup, isShown: Bool) -> [Table.Cell] {
    [Table.Cell(isShown ? group.title : ""), Table.Cell(isShown ? NumberText.text(group.entries) : "")]
  }

  private func cells(_ row: BenchmarkResult, of group: BenchmarkGroup) -> [Table.Cell] {
    guard let figures = row.measurement else {
      let style: TextStyle = row.isFailure ? .red : .dim
      return [Table.Cell(row.row.backend, style)] + (barWidth > 0 ? [""] : [])
        + [Table.Cell(row.outcome.name, style), ""]
        + Array(repeating: "", count: 7 + (hasBatches ? 1 : 0) + (hasHits ? 2 : 0))
    }
    let speed = row.speed
    let isBest = group.isBest(row)
    let style: TextStyle = isBest ? .green : group.isControl(row) ? .dim : .plain
    let bar = barWidth > 0 ? [Table.Cell(bar(speed, of: group.highest), style)] : []
    return [Table.Cell(row.row.backend, style)] + bar + [
      Table.Cell(BenchmarkText.rate(speed), style), Table.Cell(isBest ? "*" : "", style),
      Table.Cell(BenchmarkText.ratio(speed, to: group.best)),
    ] + cells(figures)
  }

  private func cells(_ figures: BenchmarkMeasurement) -> [Table.Cell] {
    let latency = figures.latency
    let batch = hasBatches ? [BenchmarkText.batch(figures.operationsPerCall).map { Table.Cell($0) } ?? ""] : []
    let hits =
      hasHits
      ? [
        Table.Cell(figures.hitRatio.map(BenchmarkText.precisePercentage)),
        Table.Cell(figures.hitRatio.map { _ in BenchmarkText.latency(latency.max) }),
      ] : []
    return [Table.Cell(BenchmarkText.spread(figures.throughput), .dim)] + hits + batch + [
      Table.Cell(BenchmarkText.latency(latency.p50)),
      Table.Cell(BenchmarkText.latency(latency.p99)), Table.Cell(BenchmarkText.latency(latency.p999)),
      Table.Cell(ByteCountText.text(figures.storageBytes)),
      Table.Cell(figures.peakMemoryBytes.map(ByteCountText.text)),
    ]
  }

  /// A bar of whole and eighth blocks, with a length proportional to `highest`.
  private func bar(_ value: Double, of highest: Double) -> String {
    guard highest > 0, let eighths = Int(exactly: (value / highest * Double(barWidth) * 8).rounded(.up)) else {
      return ""
    }
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }
}

/// Formats benchmark figures with three digits.
enum BenchmarkText {
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

  /// A latency, given in nanoseconds.
  static func latency(_ nanoseconds: UInt64) -> String { time(Double(nanoseconds) / 1_000) }

  /// The unit of a latency: "an operation", "a batch of 1,000 operations".
  static func call(_ operations: Int) -> String {
    operations > 1 ? "a batch of \(NumberText.text(operations)) operations" : "an operation"
  }

  /// The number of operations in a batch; `nil` for a single operation.
  static func batch(_ operations: Int) -> String? { operations > 1 ? NumberText.text(operations) : nil }

  /// The explanation of the column "Batch".
  static let batchRemark =
    "Batch: how many operations a call of the engine does; times are of one call"

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

  /// The changes between which a difference is noise: "-9/+10 %". They are not symmetric: what becomes a tenth slower
  /// has to become a ninth faster to be as before.
  static func noise(_ noise: Double) -> String {
    let slower = (1 - 1 / (1 + noise)) * 100
    return "-\(NumberText.decimal(slower, places: 0))/+\(percentage(noise))"
  }

  private static func digits(_ number: Double) -> String {
    NumberText.decimal(number, places: number < 9.995 ? 2 : number < 99.95 ? 1 : 0)
  }
}
