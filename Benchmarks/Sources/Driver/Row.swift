internal import StorageBenchmark

/// One row, or one for each of several metrics: what is compared, how often, and what is to be reached.
struct Row {
  /// Arguments that are none.
  struct Mistake: Error {
    let message: String
  }

  /// Both sides have to find the same in their stores.
  struct SumsDiffer: Error, CustomStringConvertible {
    let label: String
    let floor, project: UInt64?

    var description: String {
      "\(label): the floor has read \(text(floor)), and the project \(text(project))"
    }

    private func text(_ sum: UInt64?) -> String { sum.map { "\($0)" } ?? "nothing" }
  }

  private let metrics: [Metric]
  private let label: String
  private let rounds: Int
  private let target: Target
  private let fresh: FreshStore?
  private let floor: Program
  private let project: Program

  /// What the arguments of the program say.
  init(arguments: [String]) throws(Mistake) {
    let parts = arguments.split(separator: "--", maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
    guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else { throw Mistake(message: "two commands needed") }
    let words = parts[0]
    guard words.count == 4 || words.count == 7 else {
      throw Mistake(message: "METRICS LABEL ROUNDS TARGET [fresh TEMPLATE STORE] needed before the commands")
    }
    let metrics = words[0].split(separator: ",").compactMap { Metric(rawValue: String($0)) }
    guard !metrics.isEmpty else { throw Mistake(message: "'\(words[0])' are no metrics") }
    guard let rounds = Int(words[2]), rounds > 0 else { throw Mistake(message: "'\(words[2])' is no number of rounds") }
    guard let target = Target(words[3]) else { throw Mistake(message: "'\(words[3])' is no target") }
    (self.metrics, label, self.rounds, self.target) = (metrics, words[1], rounds, target)
    fresh = words.count == 7 ? FreshStore(template: words[5], path: words[6]) : nil
    (floor, project) = (Program(command: parts[1]), Program(command: parts[2]))
  }

  /// Runs both once so that they find their files in memory, then in turns, and returns a row for each metric. The target
  /// is for the first one.
  func measured() throws -> [String] {
    _ = try pair()
    var pairs: [(floor: Program.Outcome, project: Program.Outcome)] = []
    for _ in 0..<rounds { pairs.append(try pair()) }
    return try metrics.enumerated().map { index, metric in
      let comparison = Comparison(
        floor: try pairs.map { try $0.floor.value(metric) }, project: try pairs.map { try $0.project.value(metric) })
      let name = metrics.count > 1 ? "\(label), \(metric.name)" : label
      return comparison.row(label: name, metric, index == 0 ? target : .none)
    }
  }

  private func pair() throws -> (floor: Program.Outcome, project: Program.Outcome) {
    let (floor, project) = (try run(floor), try run(project))
    // A program that tells no sum is measured from outside.
    guard floor.sum == project.sum || metrics.allSatisfy(\.isOfProcess) else {
      throw SumsDiffer(label: label, floor: floor.sum, project: project.sum)
    }
    return (floor, project)
  }

  private func run(_ program: Program) throws -> Program.Outcome {
    try fresh?.copy()
    return try program.run()
  }
}

/// A store that is to be the same before each measurement.
struct FreshStore {
  let template: String
  let path: String

  /// Puts a copy of the template, a folder, in place of what is there.
  func copy() throws(Program.Failed) {
    _ = try Program(command: ["rm", "-rf", path]).run()
    _ = try Program(command: ["cp", "-r", template, path]).run()
  }
}

/// Pairs of measurements, each pair taken one right after the other, so that what else the machine does in the meantime
/// meets both alike.
struct Comparison {
  /// In nanoseconds or bytes, and as many of one as of the other.
  let floor, project: [Double]

  /// The row of a table: what, the floor's median and range, the project's, the median and range of the speeds of the
  /// project in proportion to the floor's, the target, and whether it is reached.
  func row(label: String, _ metric: Metric, _ target: Target) -> String {
    let ratios = zip(floor, project).map { $0 / $1 }
    let verdict = target.verdict(
      ratio: Spread(ratios)?.median ?? 0, value: Spread(project)?.median ?? 0, floor: Spread(floor)?.median ?? 0)
    let cells = [
      label, Self.summary(floor, metric.text), Self.summary(project, metric.text),
      Self.summary(ratios) { Decimal.text($0) }, target.text, verdict,
    ]
    return "| \(cells.joined(separator: " | ")) |"
  }

  private static func summary(_ values: [Double], _ text: (Double) -> String) -> String {
    guard let spread = Spread(values) else { return "-" }
    return "**\(text(spread.median))** (\(text(spread.minimum)) to \(text(spread.maximum)))"
  }
}
