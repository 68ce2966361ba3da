internal import StorageBenchmark

/// A line that one process of a shared run sends to the process that started it.
enum BenchmarkMessage: Sendable, Hashable {
  /// It is about to begin the phase of this name, and waits for the others.
  case waiting(String)
  /// Its progress.
  case progress(BenchmarkStep)

  /// The line, with its end.
  var line: String {
    switch self {
    case .waiting(let name): "waiting\t\(name)\n"
    case .progress(let step):
      "progress\t\(step.done)\t\(step.total)\t\(step.timeLeft.map { "\($0.components.seconds)" } ?? "-")\t\(step.item)\n"
    }
  }

  /// The message in `line`, without its end; `nil` if it is not a message.
  init?(line: [UInt8]) {
    let fields = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
    switch (fields.first, fields.count) {
    case ("waiting", 2): self = .waiting(String(fields[1]))
    case ("progress", 5):
      guard let done = Int(fields[1]), let total = Int(fields[2]) else { return nil }
      let left = Int64(fields[3]).map { Duration.seconds($0) }
      self = .progress(BenchmarkStep(done: done, total: total, timeLeft: left, item: String(fields[4])))
    default: return nil
    }
  }

  /// Whether `left` comes before `right`. The names of points in a run are numbers separated by full stops.
  static func isOrdered(_ left: String, _ right: String) -> Bool {
    let numbers = [left, right].map { $0.split(separator: ".").map { Int($0) ?? 0 } }
    return numbers[0].lexicographicallyPrecedes(numbers[1])
  }
}

/// The progress of a benchmark.
struct BenchmarkStep: Sendable, Hashable {
  /// The number of phases done, over all rounds.
  let done: Int
  /// The number of phases in all.
  let total: Int
  /// How long the rest will probably take; `nil` if there is no basis for an estimate yet.
  let timeLeft: Duration?
  /// The current work, such as "lmdb, ycsb-b run, round 2 of 5"; empty at the end.
  let item: String

  /// A step of the progress.
  init(done: Int, total: Int, timeLeft: Duration?, item: String) {
    (self.done, self.total, self.timeLeft, self.item) = (done, total, timeLeft, item)
  }

  init(_ progress: BenchmarkProgress) {
    let turn = progress.round > 0 ? "round \(progress.round) of \(progress.rounds)" : "warming up"
    let phase = progress.phase == progress.workload ? progress.workload : "\(progress.workload) \(progress.phase)"
    self.init(
      done: progress.completed, total: progress.total, timeLeft: progress.secondsLeft.map { .seconds($0) },
      item: progress.backend.isEmpty ? "" : "\(progress.backend), \(phase), \(turn)")
  }
}
