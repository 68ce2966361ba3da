/// The text of a progress bar: how much is done, how fast it goes, and how long the rest takes.
public struct ProgressLine: Sendable {
  private let label: String
  private let done: Int
  private let total: Int?
  private let elapsed: Duration
  private let unit: Unit

  /// The unit of the count.
  public enum Unit: Sendable {
    /// Things, such as pages or entries.
    case things
    /// Bytes.
    case bytes
    /// Nothing but the time that has passed, while it is not known how much there is to do.
    case seconds
  }

  /// The progress of `label`, such as "Copying": `done` of `total` (`nil` if unknown) after the time `elapsed`.
  public init(_ label: String, done: Int, total: Int?, elapsed: Duration, unit: Unit = .things) {
    self.unit = unit
    self.label = label
    self.done = done
    self.total = total
    self.elapsed = elapsed
  }

  /// The line, without a line end, at most `width` cells wide, such as "Copying  [=====>    ]  53% 1,234/2,340, 411/s,
  /// 0:03 left".
  ///
  /// The bar takes the space that the figures leave, at most 40 cells. With less than 10 it is left out.
  public func text(width: Int) -> String {
    let label = TerminalText.line(label)
    let figures = [count, rate, timeLeft].compactMap(\.self).joined(separator: ", ")
    let facts = share.map { "\($0) \(figures)" } ?? figures
    let taken = DisplayWidth.width(label) + DisplayWidth.width(facts) + 4
    let parts = [label, bar(min(width - taken, 40)), facts].compactMap(\.self)
    return DisplayWidth.truncated(parts.joined(separator: "  "), to: width)
  }

  /// How much is done, from 0 to 1; `nil` if the total is unknown.
  private var fraction: Double? {
    guard let total else { return nil }
    return total > 0 ? min(max(Double(done) / Double(total), 0), 1) : 1
  }

  /// Rounded down, so that only finished work shows 100%.
  private var share: String? {
    guard let fraction else { return nil }
    let text = "\(Int(fraction * 100))%"
    return String(repeating: " ", count: 4 - text.utf8.count) + text
  }

  private var count: String {
    if unit == .seconds { return ElapsedTimeText.clock(elapsed) }
    return [done, total].compactMap(\.self).map(amount).joined(separator: "/")
  }

  private func amount(_ count: Int) -> String { unit == .bytes ? ByteCountText.text(count) : NumberText.text(count) }

  private var perSecond: Double? {
    guard elapsed > .zero, done > 0 else { return nil }
    return Double(done) / (elapsed / .seconds(1))
  }

  private var rate: String? {
    perSecond.map { rate in
      let text = unit == .bytes ? ByteCountText.text(Int(rate)) : NumberText.decimal(rate, places: rate < 10 ? 1 : 0)
      return "\(text)/s"
    }
  }

  private var timeLeft: String? {
    guard let total, let perSecond, done < total else { return nil }
    // Beyond a hundred hours the figure says nothing, and could overflow a duration.
    let seconds = Double(total - done) / perSecond
    return seconds < 360_000 ? "\(ElapsedTimeText.clock(.seconds(seconds))) left" : nil
  }

  private func bar(_ width: Int) -> String? {
    guard let fraction, width >= 10 else { return nil }
    let inner = width - 2
    let filled = Int(Double(inner) * fraction)
    let head = filled < inner ? ">" : ""
    let body = String(repeating: "=", count: filled) + head
    return "[\(body)\(String(repeating: " ", count: inner - filled - head.utf8.count))]"
  }
}
