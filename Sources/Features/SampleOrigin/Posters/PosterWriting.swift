/// A line of text on a poster: its position, and the size of a dot of the font in pixels.
///
/// Strokes as wide as a dot, with round ends, join neighbouring dots of a glyph: large letters look written instead of
/// made of squares. At one pixel per dot only the dots remain.
struct PosterWriting: Sendable {
  /// The left edge.
  let left: Double
  /// The top edge.
  let top: Double
  /// The size of a dot in pixels.
  let dot: Double

  /// Draws `text`; `color` returns the colour index for the covered part of a pixel, with higher numbers for more.
  func write(_ text: String, on image: inout IndexedImage, _ color: (Double) -> UInt8) {
    for (index, character) in text.enumerated() {
      let glyphLeft = left + Double(index * (PosterFont.width + 1)) * dot
      for stroke in strokes(of: PosterFont.glyph(character)) {
        draw(stroke, at: glyphLeft, on: &image, color)
      }
    }
  }

  /// A straight line from the centre of a dot to the centre of a neighbour, or of the dot itself.
  private struct Stroke {
    let column: Int
    let row: Int
    let columns: Int
    let rows: Int
  }

  /// The strokes from each dot to the right and downwards, with diagonals only where there is no other connection; an
  /// isolated dot is a stroke to itself.
  private func strokes(of glyph: UInt64) -> [Stroke] {
    var strokes: [Stroke] = []
    for row in 0..<PosterFont.height {
      for column in 0..<PosterFont.width where PosterFont.isSet(glyph, column: column, row: row) {
        strokes.append(Stroke(column: column, row: row, columns: 0, rows: 0))
        for (columns, rows) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
          guard PosterFont.isSet(glyph, column: column + columns, row: row + rows) else { continue }
          let isAslant = columns != 0 && rows != 0
          let isJoined =
            PosterFont.isSet(glyph, column: column + columns, row: row)
            || PosterFont.isSet(glyph, column: column, row: row + rows)
          if isAslant && isJoined { continue }
          strokes.append(Stroke(column: column, row: row, columns: columns, rows: rows))
        }
      }
    }
    return strokes
  }

  private func draw(
    _ stroke: Stroke, at glyphLeft: Double, on image: inout IndexedImage, _ color: (Double) -> UInt8
  ) {
    let x = glyphLeft + (Double(stroke.column) + 0.5) * dot
    let y = top + (Double(stroke.row) + 0.5) * dot
    let (width, height) = (Double(stroke.columns) * dot, Double(stroke.rows) * dot)
    for row in pixels(y, y + height, limit: image.height) {
      for column in pixels(x, x + width, limit: image.width) {
        let distance = Self.distance(Double(column) + 0.5 - x, Double(row) + 0.5 - y, width, height)
        let coverage = min(max(dot / 2 - distance + 0.5, 0), 1)
        if coverage == 0 { continue }
        let index = row * image.width + column
        image.pixels[index] = max(image.pixels[index], color(coverage))
      }
    }
  }

  /// The pixels that a stroke between two coordinates can touch.
  private func pixels(_ from: Double, _ to: Double, limit: Int) -> Range<Int> {
    let first = min(max(Int(min(from, to) - dot / 2 - 0.5), 0), limit)
    let end = Int(max(from, to) + dot / 2 + 1.5)
    return first..<min(max(end, first), limit)
  }

  /// The distance of the point from the line between the origin and (`width`, `height`).
  private static func distance(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Double {
    let length = width * width + height * height
    let nearest = length == 0 ? 0 : min(max((x * width + y * height) / length, 0), 1)
    let (dx, dy) = (x - nearest * width, y - nearest * height)
    return (dx * dx + dy * dy).squareRoot()
  }
}
