internal import FetchVocabulary
internal import CacheBase
internal import EngineBenchmark
internal import EngineAPI

/// A benchmark by several processes of this program, each of which works on its share of the same stores.
struct SharedBenchmark {
  private let options: BenchmarkOptions
  private let count: Int

  init(_ plan: BenchmarkPlan) { (options, count) = (plan.options, plan.processes) }

  /// Starts all processes, has them begin each phase together, and waits for them to end.
  ///
  /// - Parameter progress: called with the progress of the first process.
  /// - Returns: the reports of all processes.
  /// - Throws: `CacheError`: a process cannot be started, or ended without a report.
  func run(_ progress: (BenchmarkProgress) -> Void) throws(CacheError) -> [[UInt8]] {
    // Releasing a process that has ended must not end this one.
    signal(SIGPIPE, SIG_IGN)
    let shares = try start()
    var isInterrupted = false
    while shares.contains(where: { !$0.hasEnded }) {
      ShareProcess.next(shares).forEach(progress)
      if Task.isCancelled, !isInterrupted {
        isInterrupted = true
        for share in shares { share.interrupt() }
      }
      Self.releaseFirst(shares)
    }
    var reports: [[UInt8]] = []
    for share in shares { reports.append(try share.report()) }
    return reports
  }

  private func start() throws(CacheError) -> [ShareProcess] {
    var shares: [ShareProcess] = []
    for index in 0..<count {
      var options = options
      options.share = BenchmarkShare(index: index, count: count)
      shares.append(try ShareProcess(options))
    }
    return shares
  }

  /// Once all processes wait, releases the ones furthest behind: if one process gave up an engine, the others catch up
  /// with it.
  private static func releaseFirst(_ shares: [ShareProcess]) {
    let running = shares.filter { !$0.hasEnded }
    let points = running.compactMap(\.waitsFor)
    guard points.count == running.count, let first = points.min(by: BenchmarkMessage.isOrdered) else { return }
    for share in running where share.waitsFor == first { share.release() }
  }
}

/// One of the processes of a benchmark.
final class ShareProcess {
  private var process: ToolProcess?
  private let options: BenchmarkOptions
  /// The point at which the process waits for the others; `nil` while it works.
  private(set) var waitsFor: String?
  private(set) var hasEnded = false

  /// - Throws: `CacheError` with the code `ioFailed` if the process cannot be started.
  init(_ options: BenchmarkOptions) throws(CacheError) {
    self.options = options
    process = try ToolProcess(
      Array(CommandLine.arguments.dropFirst()), errors: options.path("errors"), temporaryFolder: options.scratchFolder,
      variables: [ProcessEnvironment.benchmarkShareVariable: options.shareText], hasInput: true)
  }

  /// Waits a short while until one of `shares` sends something.
  ///
  /// - Returns: the progress of the first process.
  static func next(_ shares: [ShareProcess]) -> [BenchmarkProgress] {
    var descriptors = shares.filter { !$0.hasEnded }.compactMap { $0.process?.pollDescriptor }
    poll(&descriptors, nfds_t(descriptors.count), 50)
    return shares.enumerated().flatMap { index, share in
      let steps = share.read()
      return index == 0 ? steps : []
    }
  }

  /// Reads everything the process has sent so far.
  private func read() -> [BenchmarkProgress] {
    var steps: [BenchmarkProgress] = []
    while !hasEnded {
      switch process?.next(within: 0) ?? .end {
      case .nothing: return steps
      case .end: hasEnded = true
      case .line(let line):
        switch BenchmarkMessage(line: line) {
        case .waiting(let point): waitsFor = point
        case .progress(let step): steps.append(step)
        case nil: break
        }
      }
    }
    return steps
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
  /// - Throws: `CacheError` if it left none.
  func report() throws(CacheError) -> [UInt8] {
    let end = process.take()?.wait()
    if let report = try? InputFile.bytes(of: options.path("report"), limit: BenchmarkOutcome.maximumReportSize) {
      return report
    }
    if Task.isCancelled { throw .cancelled }
    let errors = (try? InputFile.bytes(of: options.path("errors"), limit: 1 << 16)) ?? []
    let text = String(decoding: errors, as: UTF8.self).split(separator: "\n").last.map(String.init)
    throw CacheError(
      .failed,
      "process \(options.share?.index ?? 0) of the benchmark ended before its time"
        + (text.map { ": \($0)" } ?? end.map { " (\($0))" } ?? ""))
  }
}

/// The other side: the share of a process that `SharedBenchmark` started.
extension BenchmarkPlan {
  /// Runs the share, and leaves its report in the folder of the run.
  func runShare() async throws(CacheError) {
    var plan = self
    plan.options.rendezvous = { point throws(CacheError) in try Self.wait(at: point) }
    let outcome = try await plan.run { Console.output.writeIfPossible(BenchmarkMessage.progress($0).line) }
    try AtomicFile.write(outcome.report.json(includingHistograms: true), to: options.path("report"))
  }

  /// Waits until the process that started this one releases it.
  private static func wait(at point: String) throws(CacheError) {
    try Console.output.write(BenchmarkMessage.waiting(point).line)
    var byte: UInt8 = 0
    var count: Int
    repeat { count = read(STDIN_FILENO, &byte, 1) } while count < 0 && errno == EINTR
    guard count <= 0 else { return }
    // The other process closes the input when it interrupts this one, and the signal may come later.
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
  /// The share and the place of the run, such as "0 4 1767225600000 bench-1f /tmp/cachectl.4Zb2xQ".
  var shareText: String {
    "\(share?.index ?? 0) \(share?.count ?? 1) \(date.milliseconds) \(runName) \(scratchFolder)"
  }

  /// Takes the share and the place from `shareText`.
  ///
  /// - Returns: whether it has them.
  mutating func join(_ shareText: String) -> Bool {
    let words = shareText.split(separator: " ", maxSplits: 4)
    let numbers = words.prefix(3).compactMap { Int($0) }
    guard words.count == 5, numbers.count == 3, BenchmarkShare.countRange.contains(numbers[1]),
      (0..<numbers[1]).contains(numbers[0])
    else { return false }
    share = BenchmarkShare(index: numbers[0], count: numbers[1])
    date = Timestamp(milliseconds: Int64(numbers[2]))
    runName = String(words[3])
    scratchFolder = String(words[4])
    return true
  }

  /// The path of a file of this share.
  fileprivate func path(_ name: String) -> String { "\(scratchFolder)/share-\(share?.index ?? 0).\(name)" }
}

/// A line that one process of a shared run sends to the process that started it.
enum BenchmarkMessage: Sendable, Hashable {
  /// It is about to begin the phase of this name, and waits for the others.
  case waiting(String)
  /// Its progress.
  case progress(BenchmarkProgress)

  /// The line, with its end.
  var line: String {
    switch self {
    case .waiting(let name): "waiting\t\(name)\n"
    case .progress(let now):
      "progress\t\(now.completed)\t\(now.total)\t\(now.secondsLeft.map { "\($0)" } ?? "-")\t\(now.item)\n"
    }
  }

  /// The message in `line`, without its end; `nil` if it is not a message.
  init?(line: [UInt8]) {
    let fields = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
    switch (fields.first, fields.count) {
    case ("waiting", 2): self = .waiting(String(fields[1]))
    case ("progress", 5):
      guard let completed = Int(fields[1]), let total = Int(fields[2]) else { return nil }
      self = .progress(
        BenchmarkProgress(
          completed: completed, total: total, secondsLeft: Double(fields[3]), item: String(fields[4])))
    default: return nil
    }
  }

  /// Whether `left` comes before `right`. The names of points in a run are numbers separated by full stops.
  static func isOrdered(_ left: String, _ right: String) -> Bool {
    let numbers = [left, right].map { $0.split(separator: ".").map { Int($0) ?? 0 } }
    return numbers[0].lexicographicallyPrecedes(numbers[1])
  }
}
