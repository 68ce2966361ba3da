/// The rows to compare with each other: one phase of a workload with the same number of entries, each backend once.
struct BenchmarkGroup: Sendable {
  let title: String
  let entries: Int
  let rows: [BenchmarkRow]

  /// The highest throughput; 0 if there is none.
  var highest: Double { rows.map(\.speed).max() ?? 0 }

  /// The throughput to compare the others to: the highest without controls, unless there are only controls.
  var best: Double {
    let best = rows.filter { !$0.isControl }.map(\.speed).max() ?? 0
    return best > 0 ? best : highest
  }

  /// The unit of the latencies: "an operation", or "a batch of 1,000 operations" if that is what the backends do per
  /// call.
  var measuredCall: String { BenchmarkText.call(rows.compactMap(\.figures?.operationsPerCall).max() ?? 1) }

  /// Whether some calls did several operations.
  var hasBatches: Bool { rows.contains { ($0.figures?.operationsPerCall ?? 1) > 1 } }

  /// Whether `row` is the best one.
  func isBest(_ row: BenchmarkRow) -> Bool { row.speed > 0 && row.speed == best }

  /// The groups of `rows`, in the order of their first rows.
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
