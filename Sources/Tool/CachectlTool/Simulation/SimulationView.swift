internal import CachePresentation
internal import ResponseStorage

/// Which share of a trace's look-ups each policy answers, by the size of the cache.
struct SimulationView: OutputView {
  /// The name of the trace.
  let name: String
  let lookUps: Int
  let keys: Int
  /// The bytes of all values.
  let footprint: Int
  /// The bytes of all look-ups' values.
  let bytes: Int
  /// The results, ordered by size, then by policy.
  let results: [TraceSimulation.Result]

  var columns: [String] { ["policy", "size", "limit", "hits", "hitRatio", "byteHitRatio"] }

  var records: [JSONValue] {
    results.map { result in
      [
        "policy": .string(result.policy.name), "size": .string(result.size.text), "limit": .integer(result.limit),
        "hits": .integer(result.hits), "hitRatio": .double(ratio(result)),
        "byteHitRatio": .double(bytes > 0 ? Double(result.hitBytes) / Double(bytes) : 0),
      ]
    }
  }

  var json: JSONValue {
    [
      "trace": .string(name), "lookUps": .integer(lookUps), "keys": .integer(keys), "bytes": .integer(footprint),
      "results": .array(records),
    ]
  }

  /// A row for each policy, a column for each size; the best of a column is marked. If the screen is too narrow, sizes in
  /// the middle are left out.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let sizes = results.reduce(into: [CacheSize]()) { if !$0.contains($1.size) { $0.append($1.size) } }
    let policies = results.filter { $0.size == sizes.first }.map(\.policy)
    let best = sizes.map { size in results.filter { $0.size == size }.map(\.hits).max() }
    let rows = policies.map { policy in
      [Table.Cell(policy.name)]
        + results.filter { $0.policy == policy }.enumerated().map { index, result in
          Table.Cell(
            BenchmarkText.precisePercentage(ratio(result)), result.hits == best[index] ? .green : .plain)
        }
    }
    let columns = sizes.enumerated().map { index, size in
      Table.Column(size.text, .right, priority: index == 0 ? 0 : index + 1 - sizes.count)
    }
    return Table([.init("Policy")] + columns, rows: rows).text(on: screen, hasHeader: hasHeader)
  }

  var status: StatusLine? {
    StatusLine([
      name, NumberText.count(lookUps, "look-up", "look-ups"), NumberText.count(keys, "key", "keys"),
      "\(ByteCountText.text(footprint)) of values",
    ])
  }

  private func ratio(_ result: TraceSimulation.Result) -> Double { Double(result.hits) / Double(lookUps) }
}
