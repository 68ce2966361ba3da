internal import CacheDomain
internal import HTTPCaching
internal import Synchronization

struct FetchURLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "url", abstract: "Fetch a URL through the cache",
    usage: FetchCommand.usageOfURL,
    discussion: """
      The content is written to stdout unchanged, whatever the HTTP status; on a terminal only if it is text. A response \
      is printed while it arrives, and stored once it is complete, if HTTP allows it. Options are spelled as in curl.
      """, examples: FetchCommand.examplesOfURL)

  @OptionGroup(title: "Request")
  var url: URLOptions

  @OptionGroup(title: "Cache")
  var fetch: FetchFlags

  @OptionGroup(title: "Output")
  var output: OutputOptions

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if output.remoteName, fileName.isEmpty {
      throw ValidationError("the URL names no file for --remote-name: use --out FILE")
    }
  }

  func run() async throws {
    let session = try Session(global)
    let responses = try url.fetch
    let demands = try url.network.demands
    let deadline = demands.maxTime.map { Deadline($0) }
    do throws(CacheError) {
      try await session.fetching(fetch) { store, writes throws(CacheError) in
        var last: Snapshot<LocatedResponse>?
        for try await snapshot in responses(session.container.context(store), demands, fetch.options) {
          if let last { writes.note(last) }
          last = snapshot
        }
        guard let last else { return }
        // A response that is still arriving is kept when it is complete.
        defer { writes.note(last) }
        try await deliver(last, session)
      }
    } catch {
      throw deadline?.explained(error) ?? error
    }
  }

  /// The file that takes the content; `nil` for stdout.
  private var file: String? { output.remoteName ? fileName : output.out == "-" ? nil : output.out }

  /// The last part of the URL's path, as it is written.
  private var fileName: String {
    let path = url.url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex,
      path[..<slash].last != UInt8(ascii: "/")
    else { return "" }
    return String(Substring(path[slash...].dropFirst()))
  }

  /// Whether to print the head of the response: a HEAD request gives nothing else.
  private var showsHead: Bool { output.include || url.head }

  private func deliver(_ snapshot: Snapshot<LocatedResponse>, _ session: Session) async throws(CacheError) {
    let view = origin(of: snapshot, session)
    if output.fail, let error = CacheError(failing: snapshot.value) {
      for warning in view.warnings { global.warn(warning) }
      throw error
    }
    warnOfRedirect(snapshot.value.response.head)
    if let error = CacheError(refusedByProxy: snapshot.value) { global.warn(ErrorView(error)) }
    guard global.output == .table else { return try await showFacts(snapshot, session) }
    let response = snapshot.value.response
    for warning in view.warnings { global.warn(warning) }
    if let file {
      try await write(response, to: file)
      global.remark(view.status)
    } else if Console.output.screen.isTerminal, output.out == nil {
      try await show(response)
      global.remark(view.status)
    } else {
      if view.isStale { global.remark(view.status) }
      try await write(response) { bytes throws(CacheError) in try Console.output.write(bytes) }
    }
    // Some failures are only known when the content is complete, such as that of storing it.
    for warning in origin(of: snapshot, session).warnings.dropFirst(view.warnings.count) { global.warn(warning) }
  }

  /// The source of the response, without its content: converting that to text, for a document, takes as long as
  /// printing it.
  private func origin(of snapshot: Snapshot<LocatedResponse>, _ session: Session) -> SnapshotView {
    SnapshotView(
      snapshot, of: URLOptions.resourceName, backend: session.configuration.backend, [],
      extent: ["HTTP \(snapshot.value.response.head.status)"])
  }

  /// Prints facts about the response, for which its content is gathered up to the size of an entry.
  private func showFacts(_ snapshot: Snapshot<LocatedResponse>, _ session: Session) async throws(CacheError) {
    let (url, limit) = (snapshot.value.url, session.configuration.cache.maxEntryBytes)
    let response = try await snapshot.value.response.gathered(limit: limit, for: HTTPRequest(url: url))
    if let file { try await write(response, to: file) }
    let gathered = snapshot.with(LocatedResponse(url: url, response: response))
    try global.show(SnapshotView(gathered, backend: session.configuration.backend))
  }

  /// Warns of a redirection that is printed instead of being followed: it would pass for the expected response.
  private func warnOfRedirect(_ head: HTTPResponseHead) {
    guard url.maxRedirects > 0, HTTPResponseHead.redirectStatuses.contains(head.status) else { return }
    global.warn(
      ErrorView(
        CacheError(
          .invalidAnswer, "the redirection (status \(head.status)) was not followed",
          hint:
            "a GET, a HEAD and the GET that takes the place of a POST go on to http or https, but not from https to http"
        )))
  }

  /// Writes the response to the file at `path`, which is complete or not there.
  private func write(_ response: HTTPResponse, to path: String) async throws(CacheError) {
    let file = try AtomicFile(path)
    try await write(response) { bytes throws(CacheError) in try file.write(bytes) }
    try file.commit()
  }

  /// Passes the response to `write` while it arrives.
  private func write(
    _ response: HTTPResponse, _ write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) {
    if showsHead { try write(FieldText.encode(response.headText)) }
    try write(response.body)
    while let bytes = try await response.rest?.next() { try write(bytes) }
    if showsHead { try write(FieldText.encode(response.trailerText)) }
  }

  /// Shows the response on a terminal while it arrives, if it is text.
  private func show(_ response: HTTPResponse) async throws(CacheError) {
    let notText = CacheError(
      .invalidRequest, "the answer is not text", hint: "redirect it to a file, or use --out FILE")
    guard response.rest != nil || response.terminalText != nil else { throw notText }
    var text = ArrivingText()
    var piece: [UInt8]? = response.body
    var isInLine = false
    if showsHead { try Console.output.write(TerminalText.block(response.headText)) }
    while let bytes = piece {
      guard let shown = text.append(bytes) else { throw notText }
      try Console.output.write(shown)
      if !shown.isEmpty { isInLine = !shown.hasSuffix("\n") }
      piece = try await response.rest?.next()
    }
    guard let shown = text.end() else { throw notText }
    try Console.output.write(isInLine || !shown.isEmpty ? shown + "\n" : shown)
  }
}

/// The options that say what to do with a response, spelled as in curl.
struct OutputOptions: ParsableArguments {
  @Flag(name: [.customShort("i"), .long], help: "Print the status line and the header fields before the content")
  var include = false

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("Write the content to FILE, whole or not at all; - is stdout", valueName: "file"),
    completion: .file())
  var out: String?

  @Flag(name: [.customShort("O"), .long], help: "Write the content to a file named like the last part of the URL")
  var remoteName = false

  @Flag(name: [.customShort("f"), .long], help: "If the HTTP status is 400 or more, print nothing of it and fail")
  var fail = false

  func validate() throws(ValidationError) {
    if remoteName, out != nil { throw ValidationError("--remote-name and --out exclude each other") }
  }
}

extension CacheError {
  /// The error for an `answer` from a proxy that requires credentials; `nil` for any other response.
  fileprivate init?(refusedByProxy answer: LocatedResponse) {
    guard answer.response.head.status == 407 else { return nil }
    self = .refusedByProxy(HTTPRequest(url: answer.url).authority ?? "the server")
  }

  /// The error for the status of `answer`, for a caller who asked for failures; `nil` if it is not a failure.
  fileprivate init?(failing answer: LocatedResponse) {
    guard answer.response.head.status >= 400 else { return nil }
    if let error = CacheError(refusedByProxy: answer) {
      self = error
      return
    }
    let code: CacheError.Code =
      switch answer.response.head.status {
      case 401, 403: .originRefused
      case 404, 410: .notFound
      default: .originUnreachable
      }
    self.init(
      code, "the server answered with status \(answer.response.head.status)", hint: "see its answer without --fail")
  }
}

/// A time limit after which the command is cancelled, whatever it is waiting for.
final class Deadline: Sendable {
  private static let grace = Duration.milliseconds(200)

  private let limit: Duration
  private let passed = Mutex(false)

  /// A deadline of `limit` and a little more from now, for the calling task, which must be the command's: that one
  /// lasts as long as the process. A transfer with the same limit ends sooner, so that a stale response can be served.
  init(_ limit: Duration) {
    self.limit = limit
    let command = withUnsafeCurrentTask { task in task.map { RunningTask(task: $0) } }
    Task.detached {
      try? await Task.sleep(for: limit + Self.grace)
      self.passed.withLock { $0 = true }
      command?.task.cancel()
    }
  }

  /// The error to report for `error`, with which the command ended: the time limit, if that is why the command was
  /// cancelled.
  func explained(_ error: CacheError) -> CacheError {
    guard error.code == .cancelled, passed.withLock({ $0 }) else { return error }
    return CacheError(
      .originUnreachable, "the answer was not complete within \(limit)", hint: "try again later, or raise --max-time")
  }
}
