/// The rows that compare with each other: one phase of a workload over as many entries, each backend once.
struct BenchmarkGroup: Sendable {
  let title: String
  let entries: Int
  let rows: [BenchmarkRow]

  /// The highest throughput; 0 where there is none.
  var highest: Double { rows.map(\.speed).max() ?? 0 }

  /// The throughput that the others are compared to: the highest but for controls, unless there is nothing else.
  var best: Double {
    let best = rows.filter { !$0.isControl }.map(\.speed).max() ?? 0
    return best > 0 ? best : highest
  }

  /// What the latencies are of: "an operation", or "a batch of 1,000 operations" where the backends do so many at once.
  var measuredCall: String { BenchmarkText.call(rows.compactMap(\.figures?.operationsPerCall).max() ?? 1) }

  /// Whether calls did several operations each.
  var hasBatches: Bool { rows.contains { ($0.figures?.operationsPerCall ?? 1) > 1 } }

  /// Whether `row` is the best of them.
  func isBest(_ row: BenchmarkRow) -> Bool { row.speed > 0 && row.speed == best }

  /// The groups of `rows`, in the order in which they come first.
  static func groups(of rows: [BenchmarkRow]) -> [BenchmarkGroup] {
    var groups: [BenchmarkGroup] = []
    for row in rows {
      if let index = groups.firstIndex(where: { $0.title == row.title && $0.entries == row.entries }) {
        groups[index] = BenchmarkGroup(title: row.title, entries: row.entries, rows: groups[index].rows + [row])
      } else {
        groups.append(BenchmarkGroup(title: row.title, entries: row.entries, rows: [row]))
      }
    }
    return groups
  }
}
