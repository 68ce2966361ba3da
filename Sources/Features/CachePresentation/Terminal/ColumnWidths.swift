/// Fits the columns of a table into a line.
enum ColumnWidths {
  /// The number of blank cells between two columns.
  static let gap = 2

  /// The widths of the columns that fit into `limit` cells.
  ///
  /// The widest shrinkable columns shrink first, down to `minimum` cells each (or to their own width, if that is less).
  /// If that is not enough, the last columns are cut and then left out.
  static func fit(_ natural: [Int], isShrinkable: [Bool], limit: Int, minimum: Int = 8) -> [Int] {
    var widths = natural
    var excess = total(widths) - limit
    while excess > 0, let index = widest(widths, isShrinkable, minimum) {
      widths[index] -= 1
      excess -= 1
    }
    return excess > 0 ? cut(widths, limit) : widths
  }

  /// The total width of columns with these widths.
  static func total(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap * max(widths.count - 1, 0)
  }

  /// The widest column that can still shrink; the last one if several are equal.
  private static func widest(_ widths: [Int], _ isShrinkable: [Bool], _ minimum: Int) -> Int? {
    widths.indices.filter { isShrinkable[$0] && widths[$0] > minimum }.max { widths[$0] <= widths[$1] }
  }

  private static func cut(_ widths: [Int], _ limit: Int) -> [Int] {
    var kept: [Int] = []
    var left = limit
    for width in widths {
      guard left > 0 else { break }
      kept.append(min(width, left))
      left -= width + gap
    }
    return kept
  }
}
