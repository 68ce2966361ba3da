internal import FetchVocabulary
internal import CacheBase

/// Another process of this program, whose standard output is read line by line.
///
/// It has its own process group, so that Ctrl-C reaches it once, through this process.
struct ToolProcess: ~Copyable {
  /// The outcome of waiting for a line.
  enum Event {
    /// A line, without its end.
    case line([UInt8])
    /// The output has ended, because the process has.
    case end
    /// Nothing came in time.
    case nothing
  }

  /// How the process ended.
  enum End: Sendable, Hashable {
    /// With a status.
    case exited(status: Int32)
    /// By a signal.
    case killed(signal: Int32)
    /// It was killed, because nothing came of it for this long.
    case gaveUp(after: Duration)
  }

  private let identifier: pid_t
  private let output: Int32
  /// The descriptor for the stdin of the process; -1 if it gets no input from here.
  private var input: Int32
  private var buffer: [UInt8] = []
  /// How much of the buffer has no line end in it.
  private var searched = 0
  private var hasEnded = false

  /// Starts the program with `arguments`.
  ///
  /// - Parameters:
  ///   - errors: the path of the file that receives its standard error.
  ///   - temporaryFolder: its folder for temporary files.
  ///   - variables: environment variables to add to those of this process.
  ///   - hasInput: whether its standard input comes from `write`, instead of this process's standard input.
  /// - Throws: `CacheError` with the code `ioFailed` if the process cannot be started.
  init(
    _ arguments: [String], errors: String, temporaryFolder: String, variables: [String: String] = [:],
    hasInput: Bool = false
  ) throws(CacheError) {
    let output = try Self.makePipe()
    defer { CacheBase.close(output.write) }
    let input: (read: Int32, write: Int32) = hasInput ? try Self.makePipe() : (-1, -1)
    defer { if hasInput { CacheBase.close(input.read) } }
    let all = ProcessEnvironment.all.merging(variables) { $1 }.merging(["TMPDIR": temporaryFolder]) { $1 }
    var identifier: pid_t = 0
    let number = Self.spawn(
      &identifier, input: input.read, output: output.write, errors: errors, ["cachectl"] + arguments,
      all.map { "\($0)=\($1)" })
    guard number == 0 else {
      CacheBase.close(output.read)
      if hasInput { CacheBase.close(input.write) }
      throw Self.failure(number)
    }
    self.identifier = identifier
    (self.output, self.input) = (output.read, input.write)
  }

  deinit {
    CacheBase.close(output)
    if input >= 0 { CacheBase.close(input) }
  }

  private static func makePipe() throws(CacheError) -> (read: Int32, write: Int32) {
    var pipe: [Int32] = [-1, -1]
    guard CacheBase.pipe(&pipe) == 0 else { throw failure(errno) }
    for descriptor in pipe { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (pipe[0], pipe[1])
  }

  /// The longest line, in bytes: more than that of an exported entry.
  private static let maximumLength = 1 << 30

  /// The `poll` request that waits for the next line.
  var pollDescriptor: pollfd { pollfd(fd: output, events: Int16(POLLIN), revents: 0) }

  /// Writes `text` to the stdin of the process. Does nothing if the process has ended.
  func write(_ text: String) { _ = CacheBase.write(input, text, text.utf8.count) }

  /// Closes the stdin of the process.
  mutating func closeInput() {
    if input >= 0 { CacheBase.close(input) }
    input = -1
  }

  /// The next line of the output; `nothing` if no line comes within `milliseconds`.
  mutating func next(within milliseconds: Int32) -> Event {
    if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(buffer[..<end])
      buffer.removeSubrange(...end)
      searched = 0
      return .line(line)
    }
    searched = buffer.count
    if hasEnded { return .end }
    var descriptor = pollDescriptor
    guard poll(&descriptor, 1, milliseconds) > 0 else { return .nothing }
    readMore()
    if hasEnded || buffer[searched...].contains(UInt8(ascii: "\n")) { return next(within: 0) }
    // No line of this program is that long: an engine prints.
    if buffer.count > Self.maximumLength {
      buffer = []
      searched = 0
    }
    return .nothing
  }

  private mutating func readMore() {
    var isInterrupted = false
    let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { [output] bytes, count in
      let size = read(output, bytes.baseAddress, bytes.count)
      isInterrupted = size < 0 && errno == EINTR
      count = max(0, size)
    }
    hasEnded = chunk.isEmpty && !isInterrupted
    buffer += chunk
  }

  /// The next line of the output; `nothing` if no line comes within `limit`, or the task is cancelled.
  mutating func next(within limit: Duration) -> Event {
    let start = ContinuousClock.now
    while !Task.isCancelled, ContinuousClock.now - start <= limit {
      let event = next(within: 50)
      guard case .nothing = event else { return event }
    }
    return .nothing
  }

  /// Ends the process: in order if it can, otherwise after two seconds. Returns when it has ended.
  consuming func stop() {
    send(SIGTERM)
    let start = ContinuousClock.now
    waiting: while ContinuousClock.now - start < .seconds(2) {
      if case .end = next(within: 50) { break waiting }
    }
    send(SIGKILL)
    _ = wait()
  }

  /// Sends a signal to the process and to the processes it started.
  func send(_ signal: Int32) { kill(-identifier, signal) }

  /// Waits until the process ends.
  consuming func wait() -> End {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? .exited(status: (status >> 8) & 0xFF) : .killed(signal: signal)
  }

  private static func failure(_ number: Int32) -> CacheError {
    CacheError(
      .ioFailed, "no process can be started: \(String(cString: strerror(number)))",
      hint: "end others, and try again")
  }

  /// Starts the program, and returns 0 or the number of the error. Its signals are set as a shell would set them.
  ///
  /// - Parameters:
  ///   - input: the descriptor of its standard input; negative for the one of this process.
  ///   - output: the descriptor of its standard output.
  ///   - errors: the path of the file that receives its standard error.
  private static func spawn(
    _ identifier: inout pid_t, input: Int32, output: Int32, errors: String, _ arguments: [String],
    _ variables: [String]
  ) -> Int32 {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    let arguments = arguments.map { strdup($0) }
    let variables = variables.map { strdup($0) }
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
      for text in arguments + variables { free(text) }
    }
    if input >= 0 { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    return posix_spawn(
      &identifier, ExecutableFile.path, &actions, &attributes, arguments + [nil], variables + [nil])
  }
}
