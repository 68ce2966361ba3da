/// A line of writing on a poster: where it begins and how large a dot of the font is, in pixels.
///
/// The dots of a glyph are joined to their neighbours by strokes as wide as a dot, with round ends: large letters look
/// written rather than made of squares. At one pixel a dot the dots themselves are left.
struct PosterWriting: Sendable {
  /// The left edge.
  let left: Double
  /// The top edge.
  let top: Double
  /// The size of a dot.
  let dot: Double

  /// Writes `text` in the colours that `color` gives for how much of a pixel is covered, more being a higher number.
  func write(_ text: String, on image: inout IndexedImage, _ color: (Double) -> UInt8) {
    for (index, character) in text.enumerated() {
      let glyphLeft = left + Double(index * (PosterFont.width + 1)) * dot
      for stroke in strokes(of: PosterFont.glyph(character)) {
        draw(stroke, at: glyphLeft, on: &image, color)
      }
    }
  }

  /// A straight line from the centre of one dot to that of a neighbour, or of the same.
  private struct Stroke {
    let column: Int
    let row: Int
    let columns: Int
    let rows: Int
  }

  /// From each dot the strokes to the right and downwards, aslant only where no way round is there; for a dot without
  /// any, itself.
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

  /// The pixels that a stroke between two points of an axis can touch.
  private func pixels(_ from: Double, _ to: Double, limit: Int) -> Range<Int> {
    let first = min(max(Int(min(from, to) - dot / 2 - 0.5), 0), limit)
    let end = Int(max(from, to) + dot / 2 + 1.5)
    return first..<min(max(end, first), limit)
  }

  /// How far the point is from the line between the origin and (`width`, `height`).
  private static func distance(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Double {
    let length = width * width + height * height
    let nearest = length == 0 ? 0 : min(max((x * width + y * height) / length, 0), 1)
    let (dx, dy) = (x - nearest * width, y - nearest * height)
    return (dx * dx + dy * dy).squareRoot()
  }
}
