/// Formats benchmark figures with three digits.
enum BenchmarkText {
  /// A throughput: "2.85 M/s", "228 k/s", "93.1 /s".
  static func rate(_ perSecond: Double) -> String {
    switch perSecond {
    case ..<999.5: "\(digits(perSecond)) /s"
    case ..<999_500: "\(digits(perSecond / 1e3)) k/s"
    default: "\(digits(perSecond / 1e6)) M/s"
    }
  }

  /// A time, given in microseconds: "350 ns", "12.3 µs", "1.24 ms", "2.50 s".
  static func time(_ microseconds: Double) -> String {
    switch microseconds {
    case ..<0.9995: "\(digits(microseconds * 1e3)) ns"
    case ..<999.5: "\(digits(microseconds)) µs"
    case ..<999_500: "\(digits(microseconds / 1e3)) ms"
    default: "\(digits(microseconds / 1e6)) s"
    }
  }

  /// The unit of a latency: "an operation", "a batch of 1,000 operations".
  static func call(_ operations: Int) -> String {
    operations > 1 ? "a batch of \(NumberText.text(operations)) operations" : "an operation"
  }

  /// The number of operations in a batch; `nil` for a single operation.
  static func batch(_ operations: Int) -> String? { operations > 1 ? NumberText.text(operations) : nil }

  /// The explanation of the column "Batch".
  static let batchRemark =
    "Batch: how many operations a call of the engine does; times are of one call"

  /// A ratio to the best: "1.00", "0.08".
  static func ratio(_ value: Double, to best: Double) -> String {
    best > 0 ? NumberText.decimal(value / best, places: 2) : "-"
  }

  /// The spread of the rounds: "±4 %", half the distance between the slowest and the fastest.
  static func spread(_ throughput: BenchmarkFigures.Throughput) -> String {
    guard throughput.median > 0 else { return "-" }
    return "±\(percentage((throughput.highest - throughput.lowest) / 2 / throughput.median))"
  }

  /// A share of 0 or more: "4 %".
  static func percentage(_ share: Double) -> String { "\(NumberText.decimal(share * 100, places: 0)) %" }

  /// A change as a share: "+4 %", "-12 %".
  static func change(_ share: Double) -> String { (share < 0 ? "-" : "+") + percentage(abs(share)) }

  /// The changes between which a difference is noise: "-9/+10 %". They are not symmetric: what becomes a tenth slower
  /// has to become a ninth faster to be as before.
  static func noise(_ noise: Double) -> String {
    let slower = (1 - 1 / (1 + noise)) * 100
    return "-\(NumberText.decimal(slower, places: 0))/+\(percentage(noise))"
  }

  /// A workload and a phase in one: "ycsb-b run", or just "read" if the phase has the workload's name.
  static func title(workload: String, phase: String) -> String {
    phase == workload || phase.isEmpty ? workload : "\(workload) \(phase)"
  }

  private static func digits(_ number: Double) -> String {
    NumberText.decimal(number, places: number < 9.995 ? 2 : number < 99.95 ? 1 : 0)
  }
}
