internal import CEngineBenchmark
internal import CacheBase

/// How a benchmark measures: the clock, the processor and the memory of its process. It is passed in: tests need not
/// wait and do not depend on the machine.
public struct BenchmarkProbe: Sendable {
  /// The time since some point in the past, in nanoseconds. It never goes back.
  public var now: @Sendable () -> UInt64
  /// The processor time of the process, in nanoseconds: in itself and in the kernel, on all threads.
  public var processorNanoseconds: @Sendable () -> UInt64 = { 0 }
  /// Returns free memory that the process still holds to the system, which keeps a round from using the leftovers of
  /// another. The result is the resident memory of the process, in bytes, including mapped files; `nil` if unknown.
  public var trimmedMemoryBytes: @Sendable () -> Int? = { nil }
  /// Resets the peak of the resident memory, and says whether that is possible.
  public var resetPeakMemory: @Sendable () -> Bool = { false }
  /// The peak of the resident memory since `resetPeakMemory`, in bytes; `nil` if unknown.
  public var peakMemoryBytes: @Sendable () -> Int? = { nil }

  /// Does the same work whenever and wherever it is called: how long that takes shows how fast the machine is. With a
  /// folder, the work includes a write that the disk must confirm, in a file that nothing else sees.
  public var doReferenceWork: @Sendable (_ folder: String?) -> Void = { _ in }

  /// Measures through the operating system: CLOCK_MONOTONIC (about 20 nanoseconds a call), CLOCK_PROCESS_CPUTIME_ID
  /// (the same as `getrusage`, but in nanoseconds), and /proc/self/status; writing 5 to /proc/self/clear_refs resets
  /// the peak. If there is no /proc, the memory is unknown.
  public static let system = BenchmarkProbe(
    now: { SystemFacts.nanoseconds(CLOCK_MONOTONIC) },
    processorNanoseconds: { SystemFacts.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) },
    trimmedMemoryBytes: {
      cenginebenchmark_trim_memory()
      return SystemFacts.status("VmRSS")
    },
    resetPeakMemory: { SystemFacts.resetPeakMemory() }, peakMemoryBytes: { SystemFacts.status("VmHWM") },
    doReferenceWork: { cenginebenchmark_do_reference_work($0) })
}

/// Facts from the system about the process and the machine.
enum SystemFacts {
  @inline(__always)
  static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  static func resetPeakMemory() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  /// The line `name` of /proc/self/status, converted from KiB to bytes.
  static func status(_ name: String) -> Int? {
    Int(value(of: name, in: lines("/proc/self/status")).prefix { $0 != " " }).map { $0 * 1_024 }
  }

  /// The machine, with stores in the folder at the absolute path `folder`, as members of a report. Unknown facts are
  /// empty or 0.
  static func machine(folder: String) -> [JSONValue.Member] {
    [
      .init("processor", .string(value(of: "model name", in: lines("/proc/cpuinfo")))),
      .init("processors", .integer(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
      .init("memoryBytes", .integer(sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)))),
      .init("kernel", .string(kernel())),
      .init("fileSystem", .string(fileSystem(of: folder, lines("/proc/self/mounts")))),
    ]
  }

  /// The lines of the file at `path`, at most 1 MiB of it; empty if it cannot be read.
  static func lines(_ path: String) -> [Substring] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
      count = fread(buffer.baseAddress, 1, buffer.count, file)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  /// The text after the colon and blanks in the first of `lines` that begins with `name`.
  static func value(of name: String, in lines: [Substring]) -> String {
    guard let line = lines.first(where: { $0.hasPrefix(name) }), let colon = line.firstIndex(of: ":") else { return "" }
    return String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
  }

  /// The type of the file system with the longest mount path that leads to `folder`; of several on one path, the last.
  /// A line of `mounts` is "device path type ...".
  static func fileSystem(of folder: String, _ mounts: [Substring]) -> String {
    var best = (path: Substring(), type: Substring())
    for line in mounts {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[1].count >= best.path.count else { continue }
      let path = fields[1]
      if path == "/" || folder == path || folder.hasPrefix(path + "/") { best = (path, fields[2]) }
    }
    return String(best.type)
  }

  /// The kernel's name, its release and its processor type.
  private static func kernel() -> String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return [text(name.sysname), text(name.release), text(name.machine)].joined(separator: " ")
  }

  /// The text in a field of `utsname`, an array that ends with a zero byte.
  private static func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
