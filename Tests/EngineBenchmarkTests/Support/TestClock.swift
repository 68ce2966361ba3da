import Synchronization

@testable import EngineBenchmark

/// A clock that goes on by a fixed step whenever it is asked, and jumps where a task waits.
final class TestClock: Sendable {
  private let nanoseconds = Atomic<UInt64>(1_000)
  private let step: UInt64

  init(step: UInt64) { self.step = step }

  func advance(by duration: UInt64) { nanoseconds.wrappingAdd(duration, ordering: .sequentiallyConsistent) }

  var probe: BenchmarkProbe {
    BenchmarkProbe(
      now: { self.nanoseconds.wrappingAdd(self.step, ordering: .sequentiallyConsistent).newValue },
      waitUntil: { self.nanoseconds.store($0, ordering: .sequentiallyConsistent) },
      processorNanoseconds: { 0 }, residentBytes: { 1_000_000 }, resetPeakMemory: { true },
      peakMemoryBytes: { 1_500_000 })
  }
}
