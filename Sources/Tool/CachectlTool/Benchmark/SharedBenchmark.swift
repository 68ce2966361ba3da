internal import CacheBase
internal import EngineAPI
internal import EngineBenchmark
internal import FetchVocabulary

/// A benchmark by several processes of this program, each of which works on its share of the same stores.
struct SharedBenchmark {
  let options: BenchmarkOptions

  init(_ options: BenchmarkOptions) { self.options = options }

  /// Starts all processes, has them begin each phase together, and waits for them to end.
  ///
  /// - Parameter progress: called with the progress of the first process.
  /// - Returns: the merged report.
  /// - Throws: `CacheError`: a process cannot be started, or ended without a report.
  func run(_ progress: (BenchmarkProgress) -> Void) throws(CacheError) -> BenchmarkReport {
    // Releasing a process that has ended must not end this one.
    signal(SIGPIPE, SIG_IGN)
    var shares: [ShareProcess] = []
    for index in 0..<options.processes {
      var options = options
      options.process = index
      shares.append(try ShareProcess(options))
    }
    var isInterrupted = false
    while shares.contains(where: { !$0.hasEnded }) {
      wait(for: shares)
      for share in shares { share.read() }
      if let now = shares[0].waitsFor { progress(now) }
      if Task.isCancelled, !isInterrupted {
        isInterrupted = true
        for share in shares { share.interrupt() }
      }
      releaseFirst(shares)
    }
    var reports: [BenchmarkReport] = []
    for share in shares { reports.append(try share.report()) }
    guard let merged = BenchmarkReport.merging(reports) else { throw .cancelled }
    return merged
  }

  /// Waits a short while until one of `shares` sends something.
  private func wait(for shares: [ShareProcess]) {
    var descriptors = shares.compactMap(\.pollDescriptor)
    poll(&descriptors, nfds_t(descriptors.count), 50)
  }

  /// Once all processes wait, releases the ones furthest behind: if one process gave up an engine, the others catch up
  /// with it.
  private func releaseFirst(_ shares: [ShareProcess]) {
    let running = shares.filter { !$0.hasEnded }
    let phases = running.compactMap { $0.waitsFor?.phase }
    guard phases.count == running.count, let first = phases.min() else { return }
    for share in running where share.waitsFor?.phase == first { share.release() }
  }
}

/// One of the processes of a benchmark.
private final class ShareProcess {
  private var process: ToolProcess?
  private let options: BenchmarkOptions
  /// The phase before which the process waits for the others; `nil` while it works.
  private(set) var waitsFor: BenchmarkProgress?
  private(set) var hasEnded = false

  /// - Throws: `CacheError` with the code `ioFailed` if the process cannot be started.
  init(_ options: BenchmarkOptions) throws(CacheError) {
    self.options = options
    process = try ToolProcess(
      Array(CommandLine.arguments.dropFirst()), errors: options.path("errors"), temporaryFolder: options.scratchFolder,
      variables: [ProcessEnvironment.benchmarkShareVariable: options.shareText], hasInput: true)
  }

  /// The `poll` request that waits for output; `nil` once the process has ended.
  var pollDescriptor: pollfd? { hasEnded ? nil : process?.pollDescriptor }

  /// Reads everything the process has sent so far.
  func read() {
    while !hasEnded {
      switch process?.next(within: 0) ?? .end {
      case .nothing: return
      case .end: hasEnded = true
      case .line(let line): waitsFor = BenchmarkProgress(line: line) ?? waitsFor
      }
    }
  }

  /// Lets the process continue.
  func release() {
    waitsFor = nil
    process?.write("\n")
  }

  /// Makes the process end with what it has measured.
  func interrupt() {
    process?.send(SIGINT)
    process?.closeInput()
  }

  /// The report that the process left.
  ///
  /// - Throws: `CacheError` if it left none, or something else.
  func report() throws(CacheError) -> BenchmarkReport {
    let end = process.take()?.wait()
    let limit = BenchmarkOutcome.maximumReportSize
    if let report = try? InputFile.bytes(of: options.path("report"), limit: limit) {
      return try BenchmarkReport(json: report, file: "the report of process \(options.process)")
    }
    if Task.isCancelled { throw .cancelled }
    let errors = (try? InputFile.bytes(of: options.path("errors"), limit: 1 << 16)) ?? []
    let lines = String(decoding: errors, as: UTF8.self).split(separator: "\n")
    let text = lines.last { !$0.hasPrefix("  hint: ") }.map(String.init)
    throw CacheError(
      .failed,
      "process \(options.process) of the benchmark ended before its time"
        + (text.map { ": \($0)" } ?? end.map { " (\($0))" } ?? ""))
  }
}

/// The other side: the share of a process that `SharedBenchmark` started.
extension BenchmarkPlan {
  /// Runs the share, and leaves its report in the folder of the run.
  func runShare() async throws(CacheError) {
    let report = try await run { progress throws(CacheError) in try Self.waitToBegin(progress) }
    try AtomicFile.write(report.json, to: options.path("report"))
  }

  /// Waits until the process that started this one releases it.
  private static func waitToBegin(_ progress: BenchmarkProgress) throws(CacheError) {
    try Console.output.write(progress.line)
    var byte: UInt8 = 0
    var count: Int
    repeat { count = read(STDIN_FILENO, &byte, 1) } while count < 0 && errno == EINTR
    guard count <= 0 else { return }
    // The other process closes the input when it interrupts this one, and the signal might come later.
    withUnsafeCurrentTask { $0?.cancel() }
    throw .cancelled
  }
}

extension ProcessEnvironment {
  fileprivate static let benchmarkShareVariable = "_CACHECTL_BENCH_SHARE"

  /// The share of a benchmark that this process was started for; `nil` if it is not part of one.
  static var benchmarkShare: String? { variables[benchmarkShareVariable] }
}

extension BenchmarkOptions {
  /// The number of the process and the place of the run, such as "0 1767225600000 bench-1f /tmp/cachectl.4Zb2xQ".
  var shareText: String { "\(process) \(date.milliseconds) \(runName) \(scratchFolder)" }

  /// Takes the number of the process and the place from `shareText`.
  ///
  /// - Returns: whether it has them.
  mutating func join(_ shareText: String) -> Bool {
    let words = shareText.split(separator: " ", maxSplits: 3)
    guard words.count == 4, let process = Int(words[0]), (0..<processes).contains(process), let time = Int64(words[1])
    else { return false }
    self.process = process
    date = Timestamp(milliseconds: time)
    runName = String(words[2])
    scratchFolder = String(words[3])
    return true
  }

  /// The path of a file of this share.
  fileprivate func path(_ name: String) -> String { "\(scratchFolder)/share-\(process).\(name)" }
}

extension BenchmarkProgress {
  /// The line by which a process says that it is about to begin the phase, and waits for the others.
  var line: String { "\(phase)\t\(total)\t\(item)\n" }

  /// The progress in `line`, without its end; `nil` if it is something else.
  init?(line: [UInt8]) {
    let fields = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
    guard fields.count == 3, let phase = Int(fields[0]), let total = Int(fields[1]) else { return nil }
    self.init(phase: phase, total: total, item: String(fields[2]))
  }
}
