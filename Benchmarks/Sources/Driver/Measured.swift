internal import StorageBenchmark

/// The time that passes, and the processor time that the process uses, from its making to `end`.
struct Measured {
  /// What the program cannot do.
  struct Failed: Error {
    let what: String
  }

  private let start = (BenchmarkProbe.system.now(), BenchmarkProbe.system.processorNanoseconds())
  private var cost: (elapsed: UInt64, processor: UInt64)?

  /// Ends the measurement.
  mutating func end() {
    let probe = BenchmarkProbe.system
    cost = (probe.now() - start.0, probe.processorNanoseconds() - start.1)
  }

  /// Ends the measurement unless it has ended, and prints what `Program` reads: the nanoseconds that an operation took,
  /// those of processor time, and the sum of what was read.
  func print(operations: Int, sum: UInt64) {
    var ended = self
    if cost == nil { ended.end() }
    let (elapsed, processor) = ended.cost ?? (0, 0)
    let count = Double(operations)
    Swift.print(Double(elapsed) / count, Double(processor) / count, sum)
  }
}
