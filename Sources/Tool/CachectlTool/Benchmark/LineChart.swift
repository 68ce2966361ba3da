internal import CachePresentation
internal import CacheBase

/// Lines over one axis, as SVG that fills the available width. Each line has its own dashes and marks, so that lines
/// can be told apart without colors.
struct LineChart: Sendable {
  struct Series: Sendable {
    let name: String
    /// The number of its dashes and marks: one name has the same number in all charts of a page.
    let number: Int
    /// Whether it only shows the cost of measuring: it does not determine the scale, and can leave it.
    let isControl: Bool
    /// The points: the position on the horizontal axis (0 to 1), the value, and the description.
    let points: [(x: Double, y: Double, label: String)]
  }

  let title: String
  let ticks: [(x: Double, label: String)]
  let series: [Series]
  /// Formats a value of the vertical axis.
  let text: @Sendable (Double) -> String

  private static let (width, height) = (600.0, 320.0)
  private static let (left, right, top, bottom) = (64.0, 24.0, 12.0, 34.0)

  /// The figure, with its title and its legend.
  var html: String {
    let measured = series.contains { !$0.isControl } ? series.filter { !$0.isControl } : series
    let scale = LogScale(around: measured.flatMap { $0.points.map(\.y) })
    let lines = series.map { line($0, scale) }.joined()
    let drawing = HTMLText.element(
      "svg",
      [("viewBox", "0 0 \(Int(Self.width)) \(Int(Self.height))"), ("role", "img"), ("aria-label", title)],
      grid(scale) + lines)
    return HTMLText.element(
      "figure", [("class", "lines")], HTMLText.element("figcaption", text: title) + drawing + legend(scale))
  }

  private func legend(_ scale: LogScale) -> String {
    let names = series.map { series in
      let values = series.points.map(\.y)
      let leaves = series.isControl && values.contains { !scale.contains($0) }
      let range =
        leaves ? ", the control: \(text(values.min() ?? 0)) to \(text(values.max() ?? 0)), beyond the scale" : ""
      let sample = Self.path([(0, 8), (28, 8)], series.number) + Self.mark(14, 8, series.number, label: series.name)
      return HTMLText.element(
        "li", [],
        HTMLText.element("svg", [("viewBox", "0 0 28 16"), ("aria-hidden", "true")], sample)
          + HTMLText.escaped(series.name + range))
    }
    return HTMLText.element("ul", [("class", "legend")], names.joined())
  }

  private func line(_ series: Series, _ scale: LogScale) -> String {
    let places = series.points.map { (Self.x($0.x), Self.y(scale.position($0.y))) }
    let marks = zip(places, series.points).map { place, point in
      Self.mark(place.0, place.1, series.number, label: "\(series.name), \(point.label): \(text(point.y))")
    }
    return Self.path(places, series.number) + marks.joined()
  }

  private func grid(_ scale: LogScale) -> String {
    let rows = scale.ticks.map { value in
      let y = Self.y(scale.position(value))
      return Self.rule(Self.left, y, Self.width - Self.right, y)
        + Self.label(text(value), x: Self.left - 8, y: y + 4, anchor: "end")
    }
    let columns = ticks.map { tick in
      let x = Self.x(tick.x)
      return Self.rule(x, Self.top, x, Self.height - Self.bottom)
        + Self.label(tick.label, x: x, y: Self.height - Self.bottom + 20, anchor: "middle")
    }
    return (rows + columns).joined()
  }

  private static func x(_ position: Double) -> Double { left + position * (width - left - right) }
  private static func y(_ position: Double) -> Double { height - bottom - position * (height - top - bottom) }

  private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
    HTMLText.element(
      "line",
      [
        ("class", "grid"), ("x1", HTMLText.number(x1)), ("y1", HTMLText.number(y1)), ("x2", HTMLText.number(x2)),
        ("y2", HTMLText.number(y2)),
      ], "")
  }

  private static func label(_ text: String, x: Double, y: Double, anchor: String) -> String {
    HTMLText.element(
      "text", [("x", HTMLText.number(x)), ("y", HTMLText.number(y)), ("text-anchor", anchor)], text: text)
  }

  private static func path(_ places: [(Double, Double)], _ number: Int) -> String {
    let points = places.map { "\(HTMLText.number($0.0)),\(HTMLText.number($0.1))" }.joined(separator: " ")
    return HTMLText.element("polyline", [("class", "line series\(number % 6)"), ("points", points)], "")
  }

  /// A disc, a square, a diamond, a triangle, a small square or a small disc.
  private static func mark(_ x: Double, _ y: Double, _ number: Int, label: String) -> String {
    let shape = ["●", "■", "◆", "▲", "▪", "•"][number % 6]
    return HTMLText.element(
      "text",
      [
        ("class", "mark series\(number % 6)"), ("x", HTMLText.number(x)), ("y", HTMLText.number(y)),
        ("text-anchor", "middle"), ("dominant-baseline", "central"),
      ], shape + HTMLText.element("title", text: label))
  }
}

/// A logarithmic axis: whole decades around the values shown.
struct LogScale: Sendable {
  private let lowest: Double
  private let highest: Double

  /// The axis for `values`, ignoring values that are not positive.
  init(around values: [Double]) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    lowest = log10(positive.min() ?? 1).rounded(.down)
    highest = max(log10(positive.max() ?? 10).rounded(.up), lowest + 1)
  }

  /// Whether `value` is between the ends of the axis.
  func contains(_ value: Double) -> Bool { value > 0 && lowest...highest ~= log10(value) }

  /// The position of `value` on the axis, from 0 to 1; that of the nearer end if it is beyond.
  func position(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    return min(max((log10(value) - lowest) / (highest - lowest), 0), 1)
  }

  /// The powers of ten of the axis.
  var ticks: [Double] { stride(from: lowest, through: highest, by: 1).map { pow(10, $0) } }
}

/// Writes HTML (living standard of the WHATWG) and the SVG within it.
enum HTMLText {
  /// `text` as the content of an element or the value of a quoted attribute.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  /// The element `name` around `content`, which is already HTML.
  static func element(_ name: String, _ attributes: [(String, String)] = [], _ content: String) -> String {
    let written = attributes.map { " \($0.0)=\"\(escaped($0.1))\"" }.joined()
    return "<\(name)\(written)>\(content)</\(name)>"
  }

  /// The element `name` around a text.
  static func element(_ name: String, _ attributes: [(String, String)] = [], text: String) -> String {
    element(name, attributes, escaped(text))
  }

  /// `text` with spaces that do not break the line, as between a number and its unit.
  static func unbroken(_ text: String) -> String { String(text.map { $0 == " " ? "\u{A0}" : $0 }) }

  /// A coordinate, rounded to tenths.
  static func number(_ value: Double) -> String {
    let sign = value < -0.05 ? "-" : ""
    return sign + NumberText.decimal(abs(value), places: 1).split(separator: ",").joined()
  }

  /// A row of a table.
  static func row(_ cells: [String], _ attributes: [(String, String)] = [], of name: String = "td") -> String {
    element("tr", attributes, cells.map { element(name, text: $0) }.joined())
  }

  /// A table that scrolls by itself if it is wider than the page; `rows` are already HTML.
  static func table(_ columns: [String], _ rows: [String]) -> String {
    let table = element("thead", [], row(columns, of: "th")) + element("tbody", [], rows.joined())
    return element("div", [("class", "figures")], element("table", [], table))
  }
}
