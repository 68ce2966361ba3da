/// What is measured of a program, and how it is shown.
enum Metric: String {
  /// What the program says has passed for each operation; shown as a speed.
  case elapsed
  /// What it says it has used of the processor for each operation; shown as a speed.
  case processor
  /// As `processor`, shown as the time that one operation takes.
  case processorEach = "processor-each"
  /// The bytes that it says each entry takes; shown as such.
  case stored
  /// The time from before the start of the program until after its end.
  case process
  /// The processor time that the whole program has used.
  case processProcessor = "process-processor"
  /// The most memory that it had, in bytes.
  case memory

  /// Whether it is measured from outside of the program.
  var isOfProcess: Bool { [.process, .processProcessor, .memory].contains(self) }

  /// What it is called in a label.
  var name: String {
    switch self {
    case .elapsed, .process: "elapsed time"
    case .processor, .processorEach, .processProcessor: "processor time"
    case .stored: "size"
    case .memory: "memory"
    }
  }

  /// `value`, which is in nanoseconds or bytes, as it is shown.
  func text(_ value: Double) -> String {
    switch self {
    case .elapsed, .processor: Self.speed(1e9 / value)
    case .processorEach: "\(Decimal.text(value / 1e3)) µs"
    case .process, .processProcessor: "\(Decimal.text(value / 1e6)) ms"
    case .stored: "\(Decimal.text(value)) bytes"
    case .memory: Self.mebibytes(value)
    }
  }

  /// So many bytes.
  static func mebibytes(_ bytes: Double) -> String { "\(Decimal.text(bytes / 1_048_576)) MiB" }

  /// So many in a second.
  static func speed(_ perSecond: Double) -> String {
    perSecond < 1e6 ? "\(Decimal.text(perSecond / 1e3)) k/s" : "\(Decimal.text(perSecond / 1e6)) M/s"
  }
}

/// What the project is to reach.
enum Target {
  /// Anything.
  case none
  /// A speed in proportion to the floor's.
  case ofFloor(Double)
  /// So many in a second.
  case perSecond(Double)
  /// At most so many bytes.
  case bytes(Double)
  /// At most so many nanoseconds more than the floor.
  case longer(Double)

  /// The target that `text` says: "-", "0.8", "100000/s", "48MiB", "+10ms" or "+6us"; `nil` where it says none.
  init?(_ text: String) {
    if text == "-" {
      self = .none
    } else if text.hasSuffix("/s"), let number = Double(text.dropLast(2)) {
      self = .perSecond(number)
    } else if text.hasSuffix("MiB"), let number = Double(text.dropLast(3)) {
      self = .bytes(number * 1_048_576)
    } else if text.hasPrefix("+"), text.hasSuffix("ms"), let number = Double(text.dropFirst().dropLast(2)) {
      self = .longer(number * 1e6)
    } else if text.hasPrefix("+"), text.hasSuffix("us"), let number = Double(text.dropFirst().dropLast(2)) {
      self = .longer(number * 1e3)
    } else if let number = Double(text), number > 0 {
      self = .ofFloor(number)
    } else {
      return nil
    }
  }

  /// How it is shown.
  var text: String {
    switch self {
    case .none: "-"
    case .ofFloor(let ratio): Decimal.text(ratio)
    case .perSecond(let speed): Metric.speed(speed)
    case .bytes(let bytes): Metric.mebibytes(bytes)
    case .longer(let time): time < 1e6 ? "+\(Decimal.text(time / 1e3)) µs" : "+\(Decimal.text(time / 1e6)) ms"
    }
  }

  /// Whether it is reached by a project that takes `value` nanoseconds for each, or bytes, where the floor takes `floor`;
  /// `ratio` is the speed in proportion.
  func verdict(ratio: Double, value: Double, floor: Double) -> String {
    switch self {
    case .none: "-"
    case .ofFloor(let target): ratio >= target ? "yes" : "no"
    case .perSecond(let speed): 1e9 / value >= speed ? "yes" : "no"
    case .bytes(let bytes): value <= bytes ? "yes" : "no"
    case .longer(let time): value <= floor + time ? "yes" : "no"
    }
  }
}

/// Numbers as they are shown (Foundation is not needed for that).
enum Decimal {
  /// Two decimals below 10, one below 100, none above.
  static func text(_ value: Double) -> String {
    let decimals = value < 10 ? 2 : value < 100 ? 1 : 0
    let scale = [1, 10, 100][decimals]
    let scaled = Int((value * Double(scale)).rounded())
    guard decimals > 0 else { return "\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }
}
