internal import Platform
internal import StorageBenchmark

/// A program to be run and measured.
struct Program {
  /// A program that did not start, or failed, or has not printed what was expected of it.
  struct Failed: Error, CustomStringConvertible {
    let command: [String]
    let reason: String

    var description: String { "\(command.joined(separator: " ")): \(reason)" }
  }

  /// What a run took, in nanoseconds and bytes, and what it printed.
  struct Outcome {
    fileprivate let command: [String]
    fileprivate let elapsed: Double
    fileprivate let processor: Double
    fileprivate let memory: Double
    fileprivate let output: String

    /// The sum of what the program has read; `nil` where it tells none.
    var sum: UInt64? { words.count == 3 ? UInt64(words[2]) : nil }

    /// The measure that is asked for.
    ///
    /// - Throws: `Failed` where the program should have printed two times and a sum, and has not.
    func value(_ metric: Metric) throws(Failed) -> Double {
      switch metric {
      case .process: return elapsed
      case .processProcessor: return processor
      case .memory: return memory
      case .elapsed, .processor, .processorEach, .stored:
        guard sum != nil, let elapsed = Double(words[0]), let processor = Double(words[1]) else {
          throw Failed(command: command, reason: "it has printed no times")
        }
        return metric == .elapsed ? elapsed : processor
      }
    }

    private var words: [Substring] { output.split(whereSeparator: \.isWhitespace) }
  }

  /// Its path, or a name to be looked for in PATH, and its arguments.
  let command: [String]

  /// Runs the program to its end, and reads all that it prints.
  ///
  /// - Throws: `Failed` unless it succeeded.
  func run() throws(Failed) -> Outcome {
    var pipeEnds: [Int32] = [-1, -1]
    guard pipe(&pipeEnds) == 0 else { throw failure("no pipe") }
    defer { for end in pipeEnds where end >= 0 { close(end) } }
    let start = BenchmarkProbe.system.now()
    let process = try launch(writingTo: pipeEnds[1], not: pipeEnds[0])
    close(pipeEnds[1])
    pipeEnds[1] = -1
    let output = Self.beginning(from: pipeEnds[0])
    var (status, usage): (Int32, rusage) = (0, rusage())
    wait4(process, &status, 0, &usage)
    let elapsed = Double(BenchmarkProbe.system.now() - start)
    guard status == 0 else { throw failure("status \(status >> 8), signal \(status & 0x7F)") }
    let processor = usage.ru_utime.nanoseconds + usage.ru_stime.nanoseconds
    return Outcome(
      command: command, elapsed: elapsed, processor: processor, memory: Double(usage.ru_maxrss) * 1024, output: output)
  }

  private func failure(_ reason: String) -> Failed { Failed(command: command, reason: reason) }

  private func launch(writingTo descriptor: Int32, not readEnd: Int32) throws(Failed) -> pid_t {
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
    guard status == 0 else { throw failure("it cannot be started: \(String(cString: strerror(status)))") }
    return process
  }

  /// Reads all that is written, and returns the beginning of it.
  private static func beginning(from descriptor: Int32) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return text }
      if text.isEmpty { text = String(decoding: buffer[..<min(count, 200)], as: UTF8.self) }
    }
  }
}

extension timeval {
  fileprivate var nanoseconds: Double { Double(tv_sec) * 1e9 + Double(tv_usec) * 1e3 }
}
