internal import CacheBase
internal import Synchronization

/// Tells whether the process that left something in a store is still running. It is passed in, because only the
/// operating system knows.
public protocol ProcessTable: Sendable {
  /// Names this process. No other process has the name, be it on another machine, in another container, from before the
  /// last reboot, or one that got the same number later. `nil` if the system does not reveal enough.
  var current: String? { get }

  /// Whether the process with the name `process` has certainly ended, or been stopped by a signal (Ctrl-Z), so that nobody
  /// should wait for it. `false` for a process of another system, as nothing is known about it here.
  func cannotFinish(_ process: String) -> Bool
}

/// The processes of the operating system, through kill(2), and Linux's /proc (proc(5)) or sysctl(3) of macOS. A name has the
/// run of the system with the process namespace in it, the process number and the start of the process.
///
/// Cost: about 20 microseconds each for the first `current` and for `cannotFinish(_:)`; a cache hit calls neither.
public struct SystemProcessTable: ProcessTable {
  /// The name of this process, with its number: a child begins with the memory of its parent.
  private static let known = Mutex<(number: pid_t, name: String)?>(nil)

  /// The table.
  public init() {}

  /// The name of this process; `nil` if the system does not tell, as Linux without /proc.
  public var current: String? {
    let number = getpid()
    if let known = Self.known.withLock({ $0 }), known.number == number { return known.name }
    guard let system, let status = ProcessStatus(of: number) else { return nil }
    let name = "\(system) \(number) \(status.startedAt)"
    Self.known.withLock { $0 = (number, name) }
    return name
  }

  /// Whether the process has ended or is stopped: its number is unused or belongs to a newer process, or it only waits for
  /// its parent to collect its status, or for a signal to continue. A process whose status cannot be read counts as running.
  public func cannotFinish(_ process: String) -> Bool {
    let words = process.split(separator: " ").map(String.init)
    guard words.count == 3, words[0] == system, let number = Int32(words[1]), number > 0 else { return false }
    if kill(number, 0) != 0, errno == ESRCH { return true }
    guard let status = ProcessStatus(of: number) else { return false }
    return !status.canRun || String(status.startedAt) != words[2]
  }

  /// The run of the kernel and the process namespace: within both, a number identifies one process at a time.
  private var system: String? {
    guard let run = KernelRun.identifier else { return nil }
    #if os(Linux)
      guard let space = SmallFile.target("/proc/self/ns/pid") else { return nil }
      return "\(run)/\(space)"
    #else
      return run
    #endif
  }
}

/// The system's data about a process: on Linux the contents of /proc/PID/stat.
package struct ProcessStatus: Hashable {
  /// Whether the process has neither ended, with a parent that has not collected its status yet, nor been stopped.
  package let canRun: Bool
  /// When it started, in a unit of the system: on Linux clock ticks since the start of the machine.
  package let startedAt: UInt64

  package init?(of process: Int32) {
    #if os(Linux)
      guard let text = SmallFile.text("/proc/\(process)/stat") else { return nil }
      self.init(text)
    #else
      var (name, information) = ([CTL_KERN, KERN_PROC, KERN_PROC_PID, process], kinfo_proc())
      var size = MemoryLayout<kinfo_proc>.stride
      guard sysctl(&name, UInt32(name.count), &information, &size, nil, 0) == 0, size > 0 else { return nil }
      canRun = ![SZOMB, SSTOP].contains(Int32(information.kp_proc.p_stat))
      let start = information.kp_proc.p_un.__p_starttime
      startedAt = UInt64(start.tv_sec) * 1_000_000 + UInt64(start.tv_usec)
    #endif
  }

  /// The status in the format of proc(5): the state is field 3, the start time field 22. Field 2 is the program's name
  /// in parentheses, and can itself contain spaces and parentheses: count fields from the last parenthesis.
  package init?(_ text: String) {
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = text[end...].split(separator: " ").dropFirst()
    guard fields.count >= 20, let state = fields.first,
      let startedAt = UInt64(fields[fields.startIndex + 19])
    else { return nil }
    canRun = !["Z", "X", "x", "T"].contains(state)
    self.startedAt = startedAt
  }
}
