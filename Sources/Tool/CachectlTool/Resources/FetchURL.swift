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
      """, examples: FetchCommand.examplesOfURL
  ).hinting(CurlHints.hint)

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

  mutating func run() async throws {
    let start = ContinuousClock.now
    if url.silent { global.quiet = true }
    let command = self
    let session = try Session(global)
    let responses = try url.fetch
    let demands = try url.network.demands
    let deadline = demands.maxTime.map { Deadline($0) }
    do throws(CacheError) {
      try await session.fetching(fetch) { store, writes throws(CacheError) in
        let progress = TransferProgress(
          of: HTTP.Request(url: command.url.url).authority ?? "the server", isVisible: command.showsProgress)
        defer { progress.finish() }
        var last: Snapshot<LocatedResponse>?
        for try await snapshot in responses(session.container.context(store), demands, command.fetch.options) {
          if let last { writes.note(last) }
          last = snapshot
        }
        guard let last else { return }
        // A response that is still arriving is kept when it is complete.
        defer { writes.note(last) }
        let failure = try await command.deliver(last, session, store, progress)
        progress.finish()
        if let format = command.output.writeOut {
          let text = format.text(last.value, after: ContinuousClock.now - start)
          try Console.output.write(
            Console.output.screen.isTerminal ? Array(TerminalText.block(FieldText.decode(text[...])).utf8) : text)
        }
        if let failure { throw failure }
      }
    } catch {
      throw deadline?.explained(error) ?? error
    }
  }

  /// Whether a line on the terminal can show the progress: content that scrolls by is progress enough, and the reader of a
  /// pipe may write to the same terminal.
  private var showsProgress: Bool {
    global.showsWaiting && (file != nil || !Console.output.isPipe)
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

  /// Prints or writes the response.
  ///
  /// - Returns: the failure that the status means to a caller who asked for failures.
  private func deliver(
    _ snapshot: Snapshot<LocatedResponse>, _ session: Session, _ store: OpenStore, _ progress: TransferProgress
  ) async throws(CacheError) -> CacheError? {
    let response = snapshot.value.response
    if response.head.isOfCache, !snapshot.entry.isStored {
      throw CacheError(
        .notCached, "\(snapshot.value.url) is not in the cache, or cannot be served from it without a request",
        hint: "no request was sent: leave out only-if-cached, or see why with: cachectl explain")
    }
    let view = origin(of: snapshot, session)
    let failure =
      output.fail || output.failWithBody ? CacheError(failing: snapshot.value, isPrinted: output.failWithBody) : nil
    if Console.output.screen.isTerminal, file == nil || output.dumpHeader == "-" { progress.finish() }
    if output.fail, let failure {
      for warning in view.warnings { global.warn(warning) }
      if let path = output.dumpHeader { try write(headOf: response, to: path) }
      return failure
    }
    warnOfRedirect(snapshot.value)
    if let error = CacheError(refusedByProxy: snapshot.value) { global.warn(ErrorView(error)) }
    if let path = output.dumpHeader { try write(headOf: response, to: path) }
    guard global.output == .table else {
      try await showFacts(snapshot, session, store, progress)
      return failure
    }
    for warning in view.warnings { global.warn(warning) }
    if let file {
      try await write(response, to: file, progress)
      global.remark(origin(of: Self.delivered(snapshot, store), session).status)
    } else if Console.output.screen.isTerminal, output.out == nil {
      try await show(response)
      global.remark(origin(of: Self.delivered(snapshot, store), session).status)
    } else {
      if view.isStale { global.remark(view.status) }
      try await write(response, progress) { bytes throws(CacheError) in try Console.output.write(bytes) }
    }
    // Some failures are only known when the content is complete, such as that of storing it.
    for warning in origin(of: snapshot, session).warnings.dropFirst(view.warnings.count) { global.warn(warning) }
    return failure
  }

  /// `snapshot` as it is known once its content has ended: the cache has tried to store it by then.
  private static func delivered(
    _ snapshot: Snapshot<LocatedResponse>, _ store: OpenStore
  ) -> Snapshot<LocatedResponse> {
    var snapshot = snapshot
    if snapshot.value.response.rest != nil, store.background.hasFailed { snapshot.entry.isStored = false }
    return snapshot
  }

  /// The source of the response, without its content: converting that to text, for a document, takes as long as
  /// printing it.
  private func origin(of snapshot: Snapshot<LocatedResponse>, _ session: Session) -> SnapshotView {
    SnapshotView(
      snapshot, of: URLOptions.resourceName, backend: session.configuration.backend, [],
      extent: ["HTTP \(snapshot.value.response.head.status)"])
  }

  /// Prints facts about the response, for which its content is gathered up to the size of an entry.
  private func showFacts(
    _ snapshot: Snapshot<LocatedResponse>, _ session: Session, _ store: OpenStore, _ progress: TransferProgress
  ) async throws(CacheError) {
    let (url, limit) = (snapshot.value.url, session.configuration.cache.maxEntryBytes)
    let response = try await snapshot.value.response.gathered(limit: limit, for: HTTP.Request(url: url))
    progress.finish()
    if let file { try await write(response, to: file, progress) }
    let gathered = Self.delivered(snapshot, store).with(LocatedResponse(url: url, response: response))
    try global.show(SnapshotView(gathered, backend: session.configuration.backend))
  }

  /// Warns of a redirect that is printed instead of being followed: it would pass for the expected response.
  private func warnOfRedirect(_ response: LocatedResponse) {
    let head = response.response.head
    guard url.maxRedirects > 0, HTTP.ResponseHead.redirectStatuses.contains(head.status) else { return }
    let (reason, hint) = head.reasonNotToFollow(from: response.url)
    global.warn(
      ErrorView(
        CacheError(.invalidAnswer, "the redirect (status \(head.status)) was not followed: \(reason)", hint: hint)))
  }

  /// Writes the head of the response to the file at `path`, or to stdout if it is `-`.
  private func write(headOf response: HTTP.Response, to path: String) throws(CacheError) {
    if path != "-" { return try AtomicFile.write(FieldText.encode(response.headText), to: path) }
    if Console.output.screen.isTerminal { return try Console.output.write(TerminalText.block(response.headText)) }
    try Console.output.write(FieldText.encode(response.headText))
  }

  /// Writes the response to the file at `path`, which is complete or not there.
  private func write(
    _ response: HTTP.Response, to path: String, _ progress: TransferProgress
  ) async throws(CacheError) {
    let file = try AtomicFile(path)
    try await write(response, progress) { bytes throws(CacheError) in try file.write(bytes) }
    try file.commit()
  }

  /// Passes the response to `write` while it arrives.
  private func write(
    _ response: HTTP.Response, _ progress: TransferProgress, _ write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) {
    if showsHead { try write(FieldText.encode(response.headText)) }
    try write(response.body)
    var done = response.body.count
    let total = response.rest?.length.map { $0 + response.body.count }
    while let bytes = try await response.rest?.next() {
      try write(bytes)
      done += bytes.count
      progress.update(done: done, total: total)
    }
    if showsHead { try write(FieldText.encode(response.trailerText)) }
  }

  /// Shows the response on a terminal while it arrives, if it is text.
  private func show(_ response: HTTP.Response) async throws(CacheError) {
    let notText = CacheError(
      .invalidRequest, "the response is not text", hint: "write it to a file with -o FILE, or redirect it")
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

  @Option(
    name: [.customShort("D"), .long],
    help: ArgumentHelp("Write the status line and the header fields to FILE; - is stdout", valueName: "file"),
    completion: .file())
  var dumpHeader: String?

  @Option(
    name: [.customShort("w"), .long],
    help: ArgumentHelp("Print FORMAT at the end, such as '%{http_code}' or '%header{etag}'", valueName: "format"))
  var writeOut: WriteOutFormat?

  @Flag(name: [.customShort("f"), .long], help: "If the HTTP status is 400 or more, print nothing of it and fail")
  var fail = false

  @Flag(help: "If the HTTP status is 400 or more, print the response and fail")
  var failWithBody = false

  func validate() throws(ValidationError) {
    if fail, failWithBody { throw ValidationError("--fail and --fail-with-body exclude each other") }
    if remoteName, out != nil { throw ValidationError("--remote-name and --out exclude each other") }
  }
}

extension HTTP.ResponseHead {
  /// Whether the cache made this response itself, because the request says only-if-cached (RFC 9111, section 5.2.1.7).
  fileprivate var isOfCache: Bool { version == nil && status == 504 }

  /// Why a request to `url` that got this redirect does not follow it, and what to do about it.
  fileprivate func reasonNotToFollow(from url: String) -> (reason: String, hint: String) {
    guard let location = fields.values(of: "location").first, !location.isEmpty else {
      return ("it has no Location", "")
    }
    guard let target = URLReference.resolve(location, against: url, keepingDots: true) else {
      return ("its Location is not a valid URL", "see it with -i")
    }
    let scheme = target.utf8.prefix { $0 != UInt8(ascii: ":") }
    guard ["http", "https"].contains(Substring(scheme).lowercased()) else {
      return ("it leads to \(target), which is neither http nor https", "")
    }
    if HTTP.Request(url: url).isSecure, scheme.count == 4 {
      return ("it leads from https to http", "fetch \(target) if the connection need not be encrypted")
    }
    return ("only a GET or HEAD is sent again", "send the request to \(target)")
  }
}

extension CacheError {
  /// The error for a `response` from a proxy that wants credentials; `nil` for any other response.
  fileprivate init?(refusedByProxy response: LocatedResponse) {
    guard response.response.head.status == 407 else { return nil }
    self = .refusedByProxy(HTTP.Request(url: response.url).authority ?? "the server")
  }

  /// The error for the status of `response`, for a caller who asked for failures; `nil` if it is not a failure.
  fileprivate init?(failing response: LocatedResponse, isPrinted: Bool) {
    guard response.response.head.status >= 400 else { return nil }
    if let error = CacheError(refusedByProxy: response) {
      self = error
      return
    }
    let code: CacheError.Code =
      switch response.response.head.status {
      case 401, 403: .originRefused
      case 404, 410: .notFound
      default: .originUnreachable
      }
    self.init(
      code, "the server responded with status \(response.response.head.status)",
      hint: isPrinted ? "" : "see its response with --fail-with-body")
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
      .originUnreachable, "the response was not complete within \(limit)", hint: "try again later, or raise --max-time")
  }
}
