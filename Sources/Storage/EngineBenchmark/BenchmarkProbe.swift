internal import CEngineBenchmark
internal import CacheBase

/// How a benchmark measures: the clock, the processor and the memory of its process. It is passed in, so that tests
/// need not wait and do not depend on the machine.
public struct BenchmarkProbe: Sendable {
  /// The time since some point in the past, in nanoseconds. It never goes back.
  public var now: @Sendable () -> UInt64
  /// Blocks the thread until `now` reaches a time.
  public var waitUntil: @Sendable (UInt64) -> Void
  /// The processor time of the process, in nanoseconds: in itself and in the kernel, on all threads.
  public var processorNanoseconds: @Sendable () -> UInt64 = { 0 }
  /// The resident memory of the process, in bytes, including mapped files; `nil` if unknown.
  public var residentBytes: @Sendable () -> Int? = { nil }
  /// Resets the peak of the resident memory, and says whether that is possible.
  public var resetPeakMemory: @Sendable () -> Bool = { false }
  /// The peak of the resident memory since `resetPeakMemory`, in bytes; `nil` if unknown.
  public var peakMemoryBytes: @Sendable () -> Int? = { nil }
  /// Returns free memory that the process still holds to the system, so that a round does not use the leftovers of
  /// another.
  public var trimMemory: @Sendable () -> Void = {}

  /// Does the same work whenever and wherever it is called: how long that takes shows how fast the machine is. With a
  /// folder, the work includes a write that the disk must confirm, in a file that nothing else sees.
  public var doReferenceWork: @Sendable (_ folder: String?) -> Void = { _ in }

  /// Measures through the operating system: CLOCK_MONOTONIC (about 20 nanoseconds a call), CLOCK_PROCESS_CPUTIME_ID
  /// (the same as `getrusage`, but in nanoseconds), and /proc/self/status; writing 5 to /proc/self/clear_refs resets
  /// the peak. Where there is no /proc, the memory is unknown.
  public static let system = BenchmarkProbe(
    now: { SystemProbe.nanoseconds(CLOCK_MONOTONIC) }, waitUntil: { SystemProbe.wait(until: $0) },
    processorNanoseconds: { SystemProbe.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) },
    residentBytes: { SystemProbe.status("VmRSS") }, resetPeakMemory: { SystemProbe.resetPeakMemory() },
    peakMemoryBytes: { SystemProbe.status("VmHWM") }, trimMemory: { cstoragebenchmark_trim_memory() },
    doReferenceWork: { cstoragebenchmark_do_reference_work($0) })
}

/// What the system reports about the process; see `BenchmarkProbe.system`.
enum SystemProbe {
  @inline(__always)
  static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  static func wait(until nanoseconds: UInt64) {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    #if os(Linux)
      while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    #else
      while case let now = self.nanoseconds(CLOCK_MONOTONIC), now < nanoseconds {
        let rest = nanoseconds - now
        time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
        nanosleep(&time, nil)
      }
    #endif
  }

  static func resetPeakMemory() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  /// The line `name` of /proc/self/status, converted from KiB to bytes.
  static func status(_ name: String) -> Int? {
    SystemFile.lines("/proc/self/status").first { $0.hasPrefix(name + ":") }.flatMap { line in
      Int(line.filter { ("0"..."9").contains($0) }).map { $0 * 1_024 }
    }
  }
}

/// Reads the small files of the kernel about the system.
enum SystemFile {
  /// The lines of the file at `path`, at most 1 MiB of it; empty if it cannot be read.
  static func lines(_ path: String) -> [Substring] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
      count = fread(buffer.baseAddress, 1, buffer.count, file)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }
}
