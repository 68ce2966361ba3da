/// A line of writing on a poster: where it begins and how large a dot of the font is, in pixels.
///
/// Between the centres of dots the glyph is interpolated, and what is more than half covered is inside: that rounds the
/// corners and makes diagonals of steps. At one pixel a dot it gives the dots themselves.
struct PosterWriting: Sendable {
  /// The left edge.
  let left: Double
  /// The top edge.
  let top: Double
  /// The size of a dot.
  let dot: Double

  /// Writes `text`, in the colours that `color` gives for how much of a pixel is covered.
  func write(_ text: String, on image: inout IndexedImage, _ color: (Double) -> UInt8) {
    for (index, character) in text.enumerated() {
      let glyphLeft = left + Double(index * (PosterFont.width + 1)) * dot
      write(PosterFont.glyph(character), at: glyphLeft, on: &image, color)
    }
  }

  private func write(_ glyph: UInt64, at left: Double, on image: inout IndexedImage, _ color: (Double) -> UInt8) {
    let columns = pixels(left, PosterFont.width, limit: image.width)
    for row in pixels(top, PosterFont.height, limit: image.height) {
      for column in columns {
        let x = (Double(column) + 0.5 - left) / dot
        let y = (Double(row) + 0.5 - top) / dot
        let coverage = coverage(glyph, x, y)
        if coverage > 0 { image.pixels[row * image.width + column] = color(coverage) }
      }
    }
  }

  /// The pixels that `dots` dots from `start` touch.
  private func pixels(_ start: Double, _ dots: Int, limit: Int) -> Range<Int> {
    let first = min(max(Int(start.rounded(.down)), 0), limit)
    let end = Int((start + Double(dots) * dot).rounded(.up))
    return first..<min(max(end, first), limit)
  }

  /// How much of the pixel around a point of the glyph, in dots, is covered.
  private func coverage(_ glyph: UInt64, _ x: Double, _ y: Double) -> Double {
    let left = (x - 0.5).rounded(.down)
    let top = (y - 0.5).rounded(.down)
    let right = x - 0.5 - left
    let bottom = y - 0.5 - top
    let upper = mix(value(glyph, left, top), value(glyph, left + 1, top), right)
    let lower = mix(value(glyph, left, top + 1), value(glyph, left + 1, top + 1), right)
    return min(max((mix(upper, lower, bottom) - 0.5) * dot + 0.5, 0), 1)
  }

  private func value(_ glyph: UInt64, _ column: Double, _ row: Double) -> Double {
    PosterFont.isSet(glyph, column: Int(column), row: Int(row)) ? 1 : 0
  }

  private func mix(_ from: Double, _ to: Double, _ fraction: Double) -> Double { from + (to - from) * fraction }
}
