internal import Glibc

/// The processes of the operating system, through Linux's /proc (proc(5)) and kill(2).
///
/// Cost: about 20 microseconds each for `current` and for `hasEnded(_:)`; a cache hit calls neither.
public struct SystemProcessTable: ProcessTable {
  private static let bootIdentifier = "/proc/sys/kernel/random/boot_id"
  private static let processNamespace = "/proc/self/ns/pid"

  /// The table.
  public init() {}

  /// This process; `nil` if /proc is not mounted.
  public var current: ProcessIdentity? {
    guard let system, let status = ProcessStatus(of: getpid()) else { return nil }
    return ProcessIdentity(system: system, number: getpid(), startedAt: status.startedAt)
  }

  /// Whether the process has ended: its number is unused or belongs to a newer process, or it only waits for its parent
  /// to collect its status. A process whose status cannot be read counts as running.
  public func hasEnded(_ process: ProcessIdentity) -> Bool {
    guard process.number > 0, process.system == system else { return false }
    if kill(process.number, 0) != 0, errno == ESRCH { return true }
    guard let status = ProcessStatus(of: process.number) else { return false }
    return status.isOver || status.startedAt != process.startedAt
  }

  /// The run of the kernel and the process namespace: within both, a number identifies one process at a time.
  private var system: String? {
    guard let boot = SmallFile.text(Self.bootIdentifier), let space = SmallFile.target(Self.processNamespace) else {
      return nil
    }
    return "\(boot.prefix { !$0.isWhitespace })/\(space)"
  }
}

/// The contents of /proc/PID/stat.
package struct ProcessStatus: Hashable {
  /// Whether the process has ended and its parent has not collected its status yet.
  package let isOver: Bool
  /// When it started, in clock ticks since the start of the machine.
  package let startedAt: UInt64

  package init?(of process: Int32) {
    guard let text = SmallFile.text("/proc/\(process)/stat") else { return nil }
    self.init(text)
  }

  /// The status in the format of proc(5): the state is field 3, the start time field 22. Field 2 is the program's name
  /// in parentheses, and may itself contain spaces and parentheses: count fields from the last parenthesis.
  package init?(_ text: String) {
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = text[end...].split(separator: " ").dropFirst()
    guard fields.count >= 20, let state = fields.first,
      let startedAt = UInt64(fields[fields.startIndex + 19])
    else { return nil }
    isOver = ["Z", "X", "x"].contains(state)
    self.startedAt = startedAt
  }
}

/// Reads small files of the kernel, each in one piece.
private enum SmallFile {
  private static let maximumLength = 4_096

  static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return bytes { Glibc.read(file, $0.baseAddress, $0.count) }
  }

  /// The target of a symbolic link.
  static func target(_ path: String) -> String? {
    bytes { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return start.withMemoryRebound(to: CChar.self, capacity: buffer.count) { readlink(path, $0, buffer.count) }
    }
  }

  private static func bytes(_ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> String? {
    let bytes = [UInt8](unsafeUninitializedCapacity: maximumLength) { buffer, count in count = max(0, fill(buffer)) }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
