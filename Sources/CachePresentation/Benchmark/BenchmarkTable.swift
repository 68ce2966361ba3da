/// The results for people: those that compare with each other stand below each other.
struct BenchmarkTable: Sendable {
  /// How many cells the bar of the best has.
  private static let barWidth = 12

  private let groups: [BenchmarkGroup]

  init(_ groups: [BenchmarkGroup]) { self.groups = groups }

  /// The table; with bars on a terminal alone.
  func text(on screen: Screen, hasHeader: Bool) -> String {
    let rows = groups.flatMap { group in
      group.rows.enumerated().map { index, row in
        heading(group, isShown: index == 0) + cells(row, best: group.best, hasBars: screen.isTerminal)
      }
    }
    return Table(columns(hasBars: screen.isTerminal), rows: rows).text(on: screen, hasHeader: hasHeader)
  }

  private func columns(hasBars: Bool) -> [Table.Column] {
    let bars: [Table.Column] = hasBars ? [.init("")] : []
    return [.init("Workload", isShrinkable: true), .init("Entries", .right), .init("Backend")] + bars + [
      .init("Throughput", .right), .init("", .left), .init("Ratio", .right), .init("Spread", .right),
      .init("p50", .right), .init("p99", .right), .init("p99.9", .right), .init("Disk", .right),
      .init("Memory", .right),
    ]
  }

  private func heading(_ group: BenchmarkGroup, isShown: Bool) -> [Table.Cell] {
    [Table.Cell(isShown ? group.title : ""), Table.Cell(isShown ? NumberText.text(group.entries) : "")]
  }

  private func cells(_ row: BenchmarkRow, best: Double, hasBars: Bool) -> [Table.Cell] {
    let (speed, latency) = (row.throughput.median, row.latency)
    let isBest = row.mistake == nil && speed == best
    let style: TextStyle = row.mistake != nil ? .red : isBest ? .green : .plain
    let bar = row.mistake == nil ? Self.bar(speed, of: best) : ""
    let rate = row.mistake == nil ? BenchmarkText.rate(speed) : "wrong"
    let ratio = row.mistake == nil ? BenchmarkText.ratio(speed, to: best) : "-"
    return [Table.Cell(row.backend, style)] + (hasBars ? [Table.Cell(bar, style)] : []) + [
      Table.Cell(rate, style), Table.Cell(isBest ? "*" : "", style), Table.Cell(ratio),
      Table.Cell(BenchmarkText.spread(row.throughput), .dim), Table.Cell(BenchmarkText.time(latency.p50)),
      Table.Cell(BenchmarkText.time(latency.p99)), Table.Cell(BenchmarkText.time(latency.p999)),
      Table.Cell(ByteCountText.text(row.storageBytes)), Table.Cell(ByteCountText.text(row.peakMemoryBytes)),
    ]
  }

  /// A bar of whole and eighth blocks, its length in proportion to the best's.
  private static func bar(_ value: Double, of best: Double) -> String {
    guard best > 0, let eighths = Int(exactly: (value / best * Double(barWidth) * 8).rounded(.up)) else { return "" }
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }
}
