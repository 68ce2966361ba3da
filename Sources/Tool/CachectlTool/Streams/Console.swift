internal import FetchVocabulary
internal import CachePresentation
internal import CacheBase

/// One of the standard streams, or another one that can block, and the screen it shows texts on.
struct Console: Sendable {
  /// stdout: data, and nothing else.
  static let output = Console(descriptor: STDOUT_FILENO, name: "stdout")
  /// stderr: everything else.
  static let error = Console(descriptor: STDERR_FILENO, name: "stderr")

  let descriptor: Int32
  /// The name for messages.
  private let name: String
  private let isFile: Bool
  /// Whether the stream is a pipe, so that another program reads the output.
  let isPipe: Bool
  /// The screen as it was at the start.
  let screen: Screen

  init(descriptor: Int32, name: String) {
    (self.descriptor, self.name) = (descriptor, name)
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    isFile = kind == S_IFREG
    isPipe = kind == S_IFIFO || kind == S_IFSOCK
    screen = Self.screen(of: descriptor)
  }

  /// The screen as it is now: the terminal might have been resized.
  var currentScreen: Screen { Self.screen(of: descriptor) }

  /// Writes all of `text`.
  ///
  /// - Throws: `CacheError`: `ioFailed` or `noSpace` if the stream cannot be written; `cancelled` if the task is cancelled
  ///   while the stream is not ready.
  func write(_ text: String) throws(CacheError) { try write(Array(text.utf8)) }

  /// Writes all of `bytes`.
  ///
  /// - Throws: `CacheError`: `ioFailed` or `noSpace` if the stream cannot be written; `cancelled` if the task is cancelled
  ///   while the stream is not ready.
  func write(_ bytes: [UInt8]) throws(CacheError) {
    var written = 0
    while written < bytes.count {
      try Readiness.wait(for: descriptor, POLLOUT)
      let count = bytes.withUnsafeBytes { buffer in
        CacheBase.write(descriptor, buffer.baseAddress?.advanced(by: written), room(for: bytes.count - written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(errno) }
      written += count
    }
  }

  /// How many of `count` bytes to write at once: as many as the stream, which is ready, takes without blocking.
  private func room(for count: Int) -> Int {
    // A file takes everything; pieces let an interruption in between.
    if isFile { return min(count, 1 << 20) }
    // Any pipe takes this, see pipe(7). A large response would take as many calls as all else, so this reads the pipe's
    // capacity.
    let least = Int(PIPE_BUF)
    if count <= least { return count }
    #if os(Linux)
      // F_GETPIPE_SZ, an extension of Linux, see fcntl(2).
      let capacity = Int(fcntl(descriptor, 1_032))
      var unread: CInt = 0
      guard capacity > 0, ioctl(descriptor, UInt(FIONREAD), &unread) == 0 else { return least }
      // A write that does not fit into the last page begins a new one. So any two pages in a row hold more than one
      // page of data, except at the front, where part of the first page might have been read.
      let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
      let used = unread == 0 ? 0 : Int(unread) / pageSize * 2 + 2
      return min(count, max(least, capacity - used * pageSize))
    #else
      return least
    #endif
  }

  /// Writes `text`, and ignores a failure: there is no other place to report it.
  func writeIfPossible(_ text: String) {
    try? write(text)
  }

  private func failure(_ number: Int32) -> CacheError {
    let reason = String(cString: strerror(number))
    let (message, hint) =
      switch number {
      // A closed stream; see `keepClosedStreams`.
      case EBADF: ("\(name) is closed", "start the command with it open, or discard the output with >/dev/null")
      case ENOSPC, EDQUOT: ("\(name) cannot be written: \(reason)", "make room at its destination")
      default: ("\(name) cannot be written: \(reason)", "check its destination")
      }
    return CacheError(number == ENOSPC ? .noSpace : .ioFailed, message, hint: hint)
  }

  private static func screen(of descriptor: Int32) -> Screen {
    guard isatty(descriptor) == 1 else { return .file }
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let height = isKnown && size.ws_row > 0 && hasCursor ? Int(size.ws_row) : nil
    return .terminal(width: isKnown ? Int(size.ws_col) : nil, height: height, hasColor: allowsColor)
  }

  /// Colors are for terminals that have them, unless the user turns them off (see no-color.org).
  private static var allowsColor: Bool {
    (environment("NO_COLOR") ?? "").isEmpty && hasCursor && !CommandLine.arguments.contains("--no-color")
  }

  /// Whether a terminal obeys escape sequences.
  static var hasCursor: Bool { (environment("TERM") ?? "dumb") != "dumb" }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

extension Console {
  /// Occupies standard streams that were closed when the process started. Otherwise the next file opened, perhaps a
  /// store's, would get the descriptor of one, and messages for the user would be written to it.
  ///
  /// A folder takes the place of a closed stream: it can be neither read nor written, so using it fails as using a
  /// closed stream does. Call this before anything is opened. Cost: two system calls.
  static func keepClosedStreams() {
    while true {
      let file = open("/", O_RDONLY | O_DIRECTORY)
      if file > STDERR_FILENO { close(file) }
      // If nothing can be opened, a store cannot be opened either.
      if file < 0 || file > STDERR_FILENO { return }
    }
  }
}

/// Remembers whether a response was not kept in the cache. The response is shown all the same, with a warning if the
/// cache failed; only `--require-store` makes that an error.
struct WriteFailures {
  private let isStoreRequired: Bool
  private var error: CacheError?

  init(_ flags: FetchFlags) { isStoreRequired = flags.requireStore }

  /// Notes whether a fetched response was kept.
  mutating func note<Value>(_ snapshot: Snapshot<Value>) {
    note(snapshot.writeFailure)
    if let refusal = snapshot.entry.refusal { note(refusal: refusal) }
  }

  /// Notes a failure to keep a response; `nil` means there was none.
  mutating func note(_ failure: CacheError?) {
    guard let failure else { return }
    if failure.code == .conflict { return note(refusal: "it was changed while it was fetched") }
    require(
      "the response is not in the cache, which --require-store demands",
      hint: "do what the warning says, or leave out --require-store", cause: failure)
  }

  private mutating func note(refusal: String) {
    require(
      "the response is not stored (\(refusal)), but --require-store demands it", hint: "leave out --require-store")
  }

  /// Keeps the first failure as the error.
  private mutating func require(_ message: String, hint: String, cause: CacheError? = nil) {
    guard isStoreRequired, error == nil else { return }
    error = CacheError(.ioFailed, message, hint: hint, cause: cause)
  }

  /// - Throws: `CacheError` with the code `ioFailed` if a response had to be kept and was not.
  func check() throws(CacheError) {
    if let error { throw error }
  }
}

/// Asks the user, on a terminal.
enum Question {
  /// Whether a terminal is there for the question and the answer.
  static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && Console.error.screen.isTerminal }

  /// Whether the user says yes. An interruption means no.
  static func confirm(_ question: String) -> Bool {
    Diagnostics.standard.write(.question(question))
    guard (try? Readiness.wait(for: STDIN_FILENO, POLLIN)) != nil else {
      // The line of the answer still needs its end.
      if !Diagnostics.standard.isJSON { Console.error.writeIfPossible("\n") }
      return false
    }
    return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
  }
}
