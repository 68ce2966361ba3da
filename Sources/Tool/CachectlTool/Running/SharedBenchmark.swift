internal import CacheComposition
internal import FetchVocabulary
internal import Glibc

/// A benchmark by several processes of this program, each of which works on its share of the same stores.
struct SharedBenchmark {
  private let place: BenchmarkPlace
  private let count: Int
  private let scratch: ScratchFolder

  init(place: BenchmarkPlace, count: Int, scratch: ScratchFolder) {
    (self.place, self.count, self.scratch) = (place, count, scratch)
  }

  /// Starts all processes, has them begin each phase together, and waits for them to end.
  ///
  /// - Parameter progress: called with the progress of the first process.
  /// - Returns: the reports of all processes.
  /// - Throws: `CacheError`: a process cannot be started, or ended without a report.
  func run(_ progress: (BenchmarkStep) -> Void) throws(CacheError) -> [[UInt8]] {
    // Releasing a process that has ended must not end this one.
    signal(SIGPIPE, SIG_IGN)
    let shares = try start()
    var isInterrupted = false
    while shares.contains(where: { !$0.hasEnded }) {
      for step in ShareProcess.next(shares) { progress(step) }
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
      var place = place
      place.share = (index, count)
      shares.append(try ShareProcess(place))
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
  private let place: BenchmarkPlace
  /// The point at which the process waits for the others; `nil` while it works.
  private(set) var waitsFor: String?
  private(set) var hasEnded = false

  /// - Throws: `CacheError` with the code `ioFailed` if the process cannot be started.
  init(_ place: BenchmarkPlace) throws(CacheError) {
    self.place = place
    process = try ToolProcess(
      Array(CommandLine.arguments.dropFirst()), errors: place.path("errors"), temporaryFolder: place.scratchFolder,
      variables: place.variables, hasInput: true)
  }

  /// Waits a short while until one of `shares` sends something.
  ///
  /// - Returns: the progress of the first process.
  static func next(_ shares: [ShareProcess]) -> [BenchmarkStep] {
    var descriptors = shares.filter { !$0.hasEnded }.compactMap { $0.process?.pollDescriptor }
    poll(&descriptors, nfds_t(descriptors.count), 50)
    return shares.enumerated().flatMap { index, share in
      let steps = share.read()
      return index == 0 ? steps : []
    }
  }

  /// Reads everything the process has sent so far.
  private func read() -> [BenchmarkStep] {
    var steps: [BenchmarkStep] = []
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
    if let report = try? InputFile.bytes(of: place.path("report"), limit: BenchmarkSettings.maximumReportSize) {
      return report
    }
    if Task.isCancelled { throw .cancelled }
    let errors = (try? InputFile.bytes(of: place.path("errors"), limit: 1 << 16)) ?? []
    let text = String(decoding: errors, as: UTF8.self).split(separator: "\n").last.map(String.init)
    throw CacheError(
      .failed,
      "process \(place.share?.index ?? 0) of the benchmark ended before its time"
        + (text.map { ": \($0)" } ?? end.map { " (\($0))" } ?? ""))
  }
}
