internal import CacheComposition
internal import FetchVocabulary
internal import Glibc

/// This process's share of a benchmark by several processes. `SharedBenchmark` started the process.
struct ShareOfBenchmark {
  let plan: BenchmarkPlan
  let place: BenchmarkPlace

  /// Runs the share, and leaves its report in the folder of the run.
  func run() async throws(CacheError) {
    var place = place
    place.rendezvous = { point throws(CacheError) in try Self.wait(at: point) }
    let outcome = try await plan.run(in: place) { Console.output.writeIfPossible(BenchmarkMessage.progress($0).line) }
    try AtomicFile.write(outcome.transferBytes, to: place.path("report"))
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

extension BenchmarkPlace {
  private static let shareVariable = "_CACHECTL_BENCH_SHARE"
  private static let folderVariable = "_CACHECTL_BENCH_FOLDER"

  /// The share that this process was started for; `nil` if it is not part of a benchmark.
  static var ofProcess: BenchmarkPlace? {
    let variables = ProcessEnvironment.variables
    guard let text = variables[shareVariable], let folder = variables[folderVariable] else { return nil }
    return BenchmarkPlace(shareText: text, scratchFolder: folder)
  }

  /// The environment variables that tell another process its share.
  var variables: [String: String] { [Self.shareVariable: shareText, Self.folderVariable: scratchFolder] }

  /// The path of a file of this share.
  func path(_ name: String) -> String { "\(scratchFolder)/share-\(share?.index ?? 0).\(name)" }
}
