/// The results for people: rows to compare are listed below each other.
struct BenchmarkTable: Sendable {
  private let groups: [BenchmarkGroup]
  /// The length of the longest bar in cells; 0 for no bars, if this is not a terminal.
  private let barWidth: Int
  /// Whether some calls were batches, and a column has their sizes.
  private let hasBatches: Bool

  init(_ groups: [BenchmarkGroup], on screen: Screen) {
    self.groups = groups
    hasBatches = groups.contains(where: \.hasBatches)
    barWidth = !screen.isTerminal ? 0 : screen.width ?? 100 < 100 ? 8 : 12
  }

  /// The table. If the screen is too narrow, the least important columns are left out.
  func text(on screen: Screen, hasHeader: Bool) -> String {
    let rows = groups.flatMap { group in
      group.rows.enumerated().map { index, row in
        heading(group, isShown: index == 0) + cells(row, of: group)
      }
    }
    return Table(columns, rows: rows).leavingOut(Self.dispensable, on: screen).text(on: screen, hasHeader: hasHeader)
  }

  /// The titles of the columns that may be left out, in the order in which they go.
  private static let dispensable = ["Memory", "p99.9", "Disk", "p50", "Spread"]

  private var columns: [Table.Column] {
    let bars: [Table.Column] = barWidth > 0 ? [.init("")] : []
    let batch: [Table.Column] = hasBatches ? [.init("Batch", .right)] : []
    return [.init("Workload", isShrinkable: true), .init("Entries", .right), .init("Backend")] + bars + [
      .init("Throughput", .right), .init("", .left), .init("Ratio", .right), .init("Spread", .right),
    ] + batch + [
      .init("p50", .right), .init("p99", .right), .init("p99.9", .right), .init("Disk", .right),
      .init("Memory", .right),
    ]
  }

  private func heading(_ group: BenchmarkGroup, isShown: Bool) -> [Table.Cell] {
    [Table.Cell(isShown ? group.title : ""), Table.Cell(isShown ? NumberText.text(group.entries) : "")]
  }

  private func cells(_ row: BenchmarkRow, of group: BenchmarkGroup) -> [Table.Cell] {
    guard let figures = row.figures else {
      let style: TextStyle = row.outcome.isFailure ? .red : .dim
      return [Table.Cell(row.backend, style)] + (barWidth > 0 ? [""] : [])
        + [Table.Cell(row.outcome.rawValue, style), ""] + Array(repeating: "", count: hasBatches ? 8 : 7)
    }
    let (speed, isBest) = (row.speed, group.isBest(row))
    let style: TextStyle = isBest ? .green : row.isControl ? .dim : .plain
    let bar = barWidth > 0 ? [Table.Cell(bar(speed, of: group.highest), style)] : []
    return [Table.Cell(row.backend, style)] + bar + [
      Table.Cell(BenchmarkText.rate(speed), style), Table.Cell(isBest ? "*" : "", style),
      Table.Cell(BenchmarkText.ratio(speed, to: group.best)),
    ] + cells(figures)
  }

  private func cells(_ figures: BenchmarkFigures) -> [Table.Cell] {
    let latency = figures.latency
    let batch = hasBatches ? [BenchmarkText.batch(figures.operationsPerCall).map { Table.Cell($0) } ?? ""] : []
    return [Table.Cell(BenchmarkText.spread(figures.throughput), .dim)] + batch + [
      Table.Cell(BenchmarkText.time(latency.p50)),
      Table.Cell(BenchmarkText.time(latency.p99)), Table.Cell(BenchmarkText.time(latency.p999)),
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
