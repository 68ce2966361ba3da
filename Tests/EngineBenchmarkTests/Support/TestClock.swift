import Synchronization

@testable import EngineBenchmark

/// A clock that advances by a fixed step whenever it is read.
final class TestClock: Sendable {
  private let nanoseconds = Atomic<UInt64>(1_000)
  private let step: UInt64

  init(step: UInt64) { self.step = step }

  var probe: BenchmarkProbe {
    BenchmarkProbe(
      now: { self.nanoseconds.wrappingAdd(self.step, ordering: .sequentiallyConsistent).newValue },
      processorNanoseconds: { 0 }, trimmedMemoryBytes: { 1_000_000 }, resetPeakMemory: { true },
      peakMemoryBytes: { 1_500_000 })
  }
}
