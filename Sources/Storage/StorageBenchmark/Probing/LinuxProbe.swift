internal import CStorageBenchmark
internal import Glibc

/// What Linux reports about the process; see `BenchmarkProbe.system`.
enum LinuxProbe {
  @inline(__always)
  static func now() -> UInt64 { nanoseconds(CLOCK_MONOTONIC) }

  static func wait(until nanoseconds: UInt64) {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  static func processorNanoseconds() -> UInt64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

  static func resetPeakMemory() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  static func trimMemory() { cstoragebenchmark_trim_memory() }

  /// The line `name` of /proc/self/status, converted from KiB to bytes.
  static func status(_ name: String) -> Int? {
    SystemFile.lines("/proc/self/status").first { $0.hasPrefix(name + ":") }.flatMap { line in
      Int(line.filter { ("0"..."9").contains($0) }).map { $0 * 1_024 }
    }
  }

  @inline(__always)
  private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
