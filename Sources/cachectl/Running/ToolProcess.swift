internal import CacheComposition
internal import CacheDomain
internal import Glibc

/// Another process of this program, whose standard output is read line by line.
///
/// It has a process group of its own, so that Ctrl-C reaches it once, by this process.
struct ToolProcess: ~Copyable {
  /// What came of waiting for a line.
  enum Event {
    /// A line, without its end.
    case line([UInt8])
    /// The output has ended, as it does with the process.
    case end
    /// Nothing came in time.
    case nothing
  }

  private let identifier: pid_t
  private let output: Int32
  private var buffer: [UInt8] = []
  private var hasEnded = false

  /// Starts the program with `arguments`.
  ///
  /// - Parameters:
  ///   - errors: the path of the file for what it writes to the standard error.
  ///   - temporaryFolder: where it makes temporary files.
  /// - Throws: `CacheError` with the code `ioFailed` where there can be no other process.
  init(_ arguments: [String], errors: String, temporaryFolder: String) throws(CacheError) {
    var pipe: [Int32] = [-1, -1]
    guard Glibc.pipe(&pipe) == 0 else { throw Self.failure(errno) }
    for descriptor in pipe { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    defer { Glibc.close(pipe[1]) }
    let variables = ProcessEnvironment.variables.merging(["TMPDIR": temporaryFolder]) { $1 }
    var identifier: pid_t = 0
    let number = SpawnSettings(output: pipe[1], errors: errors).spawn(
      &identifier, "/proc/self/exe", ["cachectl"] + arguments, variables.map { "\($0)=\($1)" })
    guard number == 0 else {
      Glibc.close(pipe[0])
      throw Self.failure(number)
    }
    self.identifier = identifier
    output = pipe[0]
  }

  deinit { Glibc.close(output) }

  /// The next line of the output; nothing where none comes within `milliseconds`.
  mutating func next(within milliseconds: Int32) -> Event {
    if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
      defer { buffer.removeSubrange(...end) }
      return .line(Array(buffer[..<end]))
    }
    if hasEnded { return .end }
    var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, milliseconds) > 0 else { return .nothing }
    readMore()
    return next(within: 0)
  }

  private mutating func readMore() {
    let chunk = [UInt8](unsafeUninitializedCapacity: 16_384) { [output] bytes, count in
      count = max(0, read(output, bytes.baseAddress, bytes.count))
    }
    hasEnded = chunk.isEmpty
    buffer += chunk
  }

  /// Sends a signal to it and to what it has started itself.
  func send(_ signal: Int32) { kill(-identifier, signal) }

  /// Waits for its end.
  consuming func wait() -> IsolatedChecks.End {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? .exited(status: (status >> 8) & 0xFF) : .killed(signal: signal)
  }

  private static func failure(_ number: Int32) -> CacheError {
    CacheError(
      CacheError.Code(rawValue: "ioFailed"), "no process can be started: \(String(cString: strerror(number)))",
      hint: "end others, or test in this one with --in-process")
  }
}
