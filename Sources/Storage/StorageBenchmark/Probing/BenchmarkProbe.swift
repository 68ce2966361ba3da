internal import CStorageBenchmark

/// How a benchmark measures: the clock, the processor and the memory of its process. It is passed in, so that tests
/// need not wait and do not depend on the machine.
public struct BenchmarkProbe: Sendable {
  /// The time since some point in the past, in nanoseconds. It never goes back.
  public var now: @Sendable () -> UInt64
  /// Blocks the thread until `now` reaches a time.
  public var waitUntil: @Sendable (UInt64) -> Void
  /// The processor time of the process, in nanoseconds: in itself and in the kernel, on all threads.
  public var processorNanoseconds: @Sendable () -> UInt64
  /// The resident memory of the process, in bytes, including mapped files; `nil` if unknown.
  public var residentBytes: @Sendable () -> Int?
  /// Resets the peak of the resident memory, and says whether that is possible.
  public var resetPeakMemory: @Sendable () -> Bool
  /// The peak of the resident memory since `resetPeakMemory`, in bytes; `nil` if unknown.
  public var peakMemoryBytes: @Sendable () -> Int?
  /// Returns free memory that the process still holds to the system, so that a round does not use the leftovers of
  /// another.
  public var trimMemory: @Sendable () -> Void

  /// Does the same work whenever and wherever it is called: how long that takes shows how fast the machine is. With a
  /// folder, the work includes a write that the disk must confirm, in a file that nothing else sees.
  public var doReferenceWork: @Sendable (_ folder: String?) -> Void

  /// A probe that measures with these functions.
  public init(
    now: @escaping @Sendable () -> UInt64, waitUntil: @escaping @Sendable (UInt64) -> Void,
    processorNanoseconds: @escaping @Sendable () -> UInt64 = { 0 },
    residentBytes: @escaping @Sendable () -> Int? = { nil },
    resetPeakMemory: @escaping @Sendable () -> Bool = { false },
    peakMemoryBytes: @escaping @Sendable () -> Int? = { nil }, trimMemory: @escaping @Sendable () -> Void = {},
    doReferenceWork: @escaping @Sendable (String?) -> Void = { _ in }
  ) {
    (self.now, self.waitUntil, self.processorNanoseconds) = (now, waitUntil, processorNanoseconds)
    (self.residentBytes, self.resetPeakMemory) = (residentBytes, resetPeakMemory)
    (self.peakMemoryBytes, self.trimMemory) = (peakMemoryBytes, trimMemory)
    self.doReferenceWork = doReferenceWork
  }

  /// Measures through the operating system: CLOCK_MONOTONIC (about 20 nanoseconds a call), CLOCK_PROCESS_CPUTIME_ID
  /// (the same as `getrusage`, but in nanoseconds), and /proc/self/status; writing 5 to /proc/self/clear_refs resets
  /// the peak.
  public static let system = BenchmarkProbe(
    now: { LinuxProbe.now() }, waitUntil: { LinuxProbe.wait(until: $0) },
    processorNanoseconds: { LinuxProbe.processorNanoseconds() },
    residentBytes: { LinuxProbe.status("VmRSS") }, resetPeakMemory: { LinuxProbe.resetPeakMemory() },
    peakMemoryBytes: { LinuxProbe.status("VmHWM") }, trimMemory: { LinuxProbe.trimMemory() },
    doReferenceWork: { cstoragebenchmark_do_reference_work($0) })
}
