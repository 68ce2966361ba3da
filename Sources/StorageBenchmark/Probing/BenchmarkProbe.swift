/// How a benchmark measures: the clock, the processor and the memory of its process. It is passed in, so that tests need
/// neither wait nor depend on a machine.
public struct BenchmarkProbe: Sendable {
  /// The time since some point in the past, in nanoseconds, which never goes back.
  public var now: @Sendable () -> UInt64
  /// Blocks the thread until `now` has reached a time.
  public var waitUntil: @Sendable (UInt64) -> Void
  /// How long processors have worked for the process, in nanoseconds: in itself and in the kernel, on all threads.
  public var processorNanoseconds: @Sendable () -> UInt64
  /// How much memory of the process is resident, in bytes, mapped files included; `nil` if nothing tells.
  public var residentBytes: @Sendable () -> Int?
  /// Begins to look for the peak of the resident memory anew, and says whether that is possible.
  public var resetPeakMemory: @Sendable () -> Bool
  /// The peak of the resident memory since `resetPeakMemory`, in bytes; `nil` if nothing tells.
  public var peakMemoryBytes: @Sendable () -> Int?
  /// Gives memory that is free, but still held by the process, back to the system, so that one round does not live on
  /// what another has left.
  public var trimMemory: @Sendable () -> Void

  /// A probe that measures by the given functions.
  public init(
    now: @escaping @Sendable () -> UInt64, waitUntil: @escaping @Sendable (UInt64) -> Void,
    processorNanoseconds: @escaping @Sendable () -> UInt64 = { 0 },
    residentBytes: @escaping @Sendable () -> Int? = { nil },
    resetPeakMemory: @escaping @Sendable () -> Bool = { false },
    peakMemoryBytes: @escaping @Sendable () -> Int? = { nil }, trimMemory: @escaping @Sendable () -> Void = {}
  ) {
    (self.now, self.waitUntil, self.processorNanoseconds) = (now, waitUntil, processorNanoseconds)
    (self.residentBytes, self.resetPeakMemory) = (residentBytes, resetPeakMemory)
    (self.peakMemoryBytes, self.trimMemory) = (peakMemoryBytes, trimMemory)
  }

  /// Measures by the operating system: CLOCK_MONOTONIC (about 20 nanoseconds a call), CLOCK_PROCESS_CPUTIME_ID
  /// (what `getrusage` tells, but in nanoseconds), and what /proc/self/status says; the peak is reset by writing 5 to
  /// /proc/self/clear_refs.
  public static let system = BenchmarkProbe(
    now: { LinuxProbe.now() }, waitUntil: { LinuxProbe.wait(until: $0) },
    processorNanoseconds: { LinuxProbe.processorNanoseconds() },
    residentBytes: { LinuxProbe.status("VmRSS") }, resetPeakMemory: { LinuxProbe.resetPeakMemory() },
    peakMemoryBytes: { LinuxProbe.status("VmHWM") }, trimMemory: { LinuxProbe.trimMemory() })
}
