/// Reads the cost of a phase from a saved report.
struct MeasurementReader {
  private let object: FileObject

  init(_ object: FileObject) { self.object = object }

  func read() throws(BenchmarkFileError) -> BenchmarkMeasurement {
    let list = try object.required("rounds")
    var rounds: [BenchmarkMeasurement.Round] = []
    for item in try list.list() { rounds.append(try round(try FileObject(item))) }
    guard !rounds.isEmpty else { throw list.outOfRange("at least one round") }
    return BenchmarkMeasurement(
      rounds: rounds, latency: try latency(try FileObject(try object.required("latencyMicroseconds"))),
      histogram: try histogram(object.value("latencyHistogram")))
  }

  private func round(_ object: FileObject) throws(BenchmarkFileError) -> BenchmarkMeasurement.Round {
    BenchmarkMeasurement.Round(
      operations: try object.required("operations").integer(), seconds: try object.required("seconds").number(),
      processorSeconds: try object.required("processorSeconds").number(),
      peakMemoryBytes: try object.value("peakMemoryBytes")?.integer(),
      storageBytes: try object.required("storageBytes").integer(),
      referenceSeconds: try object.value("referenceSeconds")?.number())
  }

  private func latency(_ object: FileObject) throws(BenchmarkFileError) -> LatencySummary {
    LatencySummary(
      count: UInt64(try object.required("count").integer()), mean: try nanoseconds(object, "mean"),
      p50: try nanoseconds(object, "p50"), p90: try nanoseconds(object, "p90"), p99: try nanoseconds(object, "p99"),
      p999: try nanoseconds(object, "p999"), max: try nanoseconds(object, "max"))
  }

  private func nanoseconds(_ object: FileObject, _ key: String) throws(BenchmarkFileError) -> UInt64 {
    // The limit in microseconds keeps the nanoseconds within 64 bits, with room for rounding.
    UInt64((try object.required(key).number(in: 0...1e15) * 1_000).rounded())
  }

  private func histogram(_ value: FileObject.Value?) throws(BenchmarkFileError) -> LatencyHistogram? {
    guard let value else { return nil }
    let object = try FileObject(value)
    var buckets: [(index: Int, count: UInt64)] = []
    for item in try object.required("buckets").list() {
      let pair = try item.list()
      guard pair.count == 2 else { throw item.outOfRange("a bucket's number and its count") }
      buckets.append((try pair[0].integer(), UInt64(try pair[1].integer())))
    }
    guard
      let histogram = LatencyHistogram(
        buckets: buckets, minimum: UInt64(try object.required("minimumNanoseconds").integer()),
        maximum: UInt64(try object.required("maximumNanoseconds").integer()),
        sum: UInt64(try object.required("sumNanoseconds").integer()))
    else { throw value.error("the histogram does not fit together", hint: "make the report anew") }
    return histogram
  }
}
