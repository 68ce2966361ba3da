internal import Glibc

/// What is measured of a program.
enum Metric: String {
  /// The first number that it prints, in nanoseconds.
  case reported
  /// The time from before its start until after its end.
  case elapsed
  /// The processor time that it has used, in user and kernel mode.
  case processor

  var unit: String { self == .reported ? "ns" : "ms" }
}

/// A program that did not start, or failed.
struct ProgramFailed: Error {
  let command: [String]
  let status: Int32
}

/// A program to be run and measured.
struct Program {
  /// Its path, or a name to be looked for in PATH, and its arguments.
  let command: [String]

  /// Runs the program to its end.
  ///
  /// - Throws: `ProgramFailed` unless it succeeded.
  func measure(_ metric: Metric) throws(ProgramFailed) -> Double {
    var pipeEnds: [Int32] = [-1, -1]
    guard pipe(&pipeEnds) == 0 else { throw ProgramFailed(command: command, status: errno) }
    defer { for end in pipeEnds where end >= 0 { close(end) } }
    let start = Self.milliseconds()
    let process = try launch(writingTo: pipeEnds[1], not: pipeEnds[0])
    close(pipeEnds[1])
    pipeEnds[1] = -1
    let output = Self.firstLine(from: pipeEnds[0])
    var (status, usage): (Int32, rusage) = (0, rusage())
    wait4(process, &status, 0, &usage)
    let elapsed = Self.milliseconds() - start
    guard status == 0 else { throw ProgramFailed(command: command, status: status) }
    switch metric {
    case .elapsed: return elapsed
    case .processor: return usage.ru_utime.milliseconds + usage.ru_stime.milliseconds
    case .reported:
      guard let number = output.split(separator: " ").first.flatMap({ Double($0) }) else {
        throw ProgramFailed(command: command, status: status)
      }
      return number
    }
  }

  private func launch(writingTo descriptor: Int32, not readEnd: Int32) throws(ProgramFailed) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, readEnd)
    posix_spawn_file_actions_addclose(&actions, descriptor)
    var words = command.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let status = posix_spawnp(&process, command[0], &actions, nil, &words, environ)
    guard status == 0 else { throw ProgramFailed(command: command, status: status) }
    return process
  }

  /// Reads all that is written, and returns the beginning of it.
  private static func firstLine(from descriptor: Int32) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return text }
      if text.isEmpty { text = String(decoding: buffer[..<min(count, 100)], as: UTF8.self) }
    }
  }

  private static func milliseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) * 1e3 + Double(now.tv_nsec) * 1e-6
  }
}

extension timeval {
  fileprivate var milliseconds: Double { Double(tv_sec) * 1e3 + Double(tv_usec) * 1e-3 }
}
