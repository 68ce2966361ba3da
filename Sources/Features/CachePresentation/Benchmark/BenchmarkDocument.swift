/// The members of a result in the document of `bench`, and its columns in CSV.
enum BenchmarkDocument {
  /// The members that identify the row.
  static func name(of row: BenchmarkRow) -> [JSONValue.Member] {
    [
      .init("backend", .string(row.backend)), .init("workload", .string(row.workload)),
      .init("phase", .string(row.phase)), .init("entries", .integer(row.entries)),
    ]
  }

  /// All members, with the latencies in an object of their own.
  static func nested(_ row: BenchmarkRow) -> [JSONValue.Member] {
    let latencies = latencies(row).map { JSONValue.Member($0.name, $0.value) }
    let latency: JSONValue = row.figures == nil ? .null : .object(latencies)
    return name(of: row) + before(row) + [.init("latencyMicroseconds", latency)] + after(row)
  }

  /// All members, each with a single value.
  static func flat(_ row: BenchmarkRow) -> [JSONValue.Member] {
    name(of: row) + before(row) + latencies(row).map { .init("\($0.name)Microseconds", $0.value) } + after(row)
  }

  private static func before(_ row: BenchmarkRow) -> [JSONValue.Member] {
    let figures = row.figures
    return [
      .init("outcome", .string(row.outcome.rawValue)), .init("operations", JSONValue(figures?.operations)),
      .init("seconds", number(figures?.seconds)), .init("operationsPerSecond", number(figures?.throughput.median)),
      .init("lowestOperationsPerSecond", number(figures?.throughput.lowest)),
      .init("highestOperationsPerSecond", number(figures?.throughput.highest)),
      .init("operationsPerCall", JSONValue(figures?.operationsPerCall)),
    ]
  }

  private static func latencies(_ row: BenchmarkRow) -> [JSONValue.Member] {
    let latency = row.figures?.latency
    return [
      .init("p50", number(latency?.p50)), .init("p90", number(latency?.p90)), .init("p99", number(latency?.p99)),
      .init("p999", number(latency?.p999)), .init("max", number(latency?.max)),
    ]
  }

  private static func after(_ row: BenchmarkRow) -> [JSONValue.Member] {
    let figures = row.figures
    return [
      .init("storageBytes", JSONValue(figures?.storageBytes)),
      .init("peakMemoryBytes", JSONValue(figures?.peakMemoryBytes)),
      .init("processorSeconds", number(figures?.processorSeconds)), .init("reason", JSONValue(row.reason)),
    ]
  }

  private static func number(_ value: Double?) -> JSONValue { value.map(JSONValue.double) ?? .null }
}
