internal import StorageBenchmark

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
