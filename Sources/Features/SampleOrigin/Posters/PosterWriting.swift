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

/// The letters of posters: five dots wide and seven high, capitals only, drawn for this program.
///
/// A glyph is a number of seven bytes, the topmost row first; bit 4 of a row is its leftmost dot.
enum PosterFont {
  /// The width of a glyph in dots. One more dot separates it from the next.
  static let width = 5
  /// The height of a glyph in dots.
  static let height = 7

  /// `text` in characters of the font: capitals, without diacritics, with plain dashes and quotation marks.
  static func writable(_ text: String) -> String {
    let folded = TextFolding.fold(text).uppercased()
    return String(String.UnicodeScalarView(folded.unicodeScalars.map { plainForms[$0] ?? $0 }))
  }

  /// Whether `glyph` has a dot in `column` and `row`, from the upper left; `false` outside of it.
  static func isSet(_ glyph: UInt64, column: Int, row: Int) -> Bool {
    guard (0..<width).contains(column), (0..<height).contains(row) else { return false }
    return glyph >> UInt64((height - 1 - row) * 8 + width - 1 - column) & 1 == 1
  }

  /// The glyph of a character from `writable`; a box if the font lacks it.
  static func glyph(_ character: Character) -> UInt64 {
    guard let code = character.asciiValue, code >= 0x20 else { return box }
    if code < 0x60 { return glyphs[Int(code) - 0x20] }
    switch character {
    case "`": return 0x08_04_02_00_00_00_00
    case "{": return 0x02_04_04_08_04_04_02
    case "|": return 0x04_04_04_04_04_04_04
    case "}": return 0x08_04_04_02_04_04_08
    case "~": return 0x00_00_08_15_02_00_00
    default: return box
    }
  }

  private static let box: UInt64 = 0x1F_11_15_15_15_11_1F

  private static let plainForms: [Unicode.Scalar: Unicode.Scalar] = [
    "\u{2010}": "-", "\u{2011}": "-", "\u{2012}": "-", "\u{2013}": "-", "\u{2014}": "-", "\u{2018}": "'",
    "\u{2019}": "'",
    "\u{201C}": "\"", "\u{201D}": "\"", "\u{00A1}": "!", "\u{00BF}": "?", "\u{00B7}": ".", "\u{2044}": "/",
  ]

  /// The glyphs of U+0020 to U+005F.
  private static let glyphs: [UInt64] = [
    0x00_00_00_00_00_00_00, 0x04_04_04_04_04_00_04, 0x0A_0A_0A_00_00_00_00, 0x0A_0A_1F_0A_1F_0A_0A,  // space ! " #
    0x04_0F_14_0E_05_1E_04, 0x18_19_02_04_08_13_03, 0x0C_12_14_08_15_12_0D, 0x04_04_08_00_00_00_00,  // $ % & '
    0x02_04_08_08_08_04_02, 0x08_04_02_02_02_04_08, 0x00_04_15_0E_15_04_00, 0x00_04_04_1F_04_04_00,  // ( ) * +
    0x00_00_00_00_04_04_08, 0x00_00_00_0E_00_00_00, 0x00_00_00_00_00_04_04, 0x00_01_02_04_08_10_00,  // , - . /
    0x0E_11_13_15_19_11_0E, 0x04_0C_04_04_04_04_0E, 0x0E_11_01_02_04_08_1F, 0x1F_02_04_02_01_11_0E,  // 0 1 2 3
    0x02_06_0A_12_1F_02_02, 0x1F_10_1E_01_01_11_0E, 0x06_08_10_1E_11_11_0E, 0x1F_01_02_04_08_08_08,  // 4 5 6 7
    0x0E_11_11_0E_11_11_0E, 0x0E_11_11_0F_01_02_0C, 0x00_04_04_00_04_04_00, 0x00_04_04_00_04_04_08,  // 8 9 : ;
    0x02_04_08_10_08_04_02, 0x00_00_1F_00_1F_00_00, 0x08_04_02_01_02_04_08, 0x0E_11_01_02_04_00_04,  // < = > ?
    0x0E_11_17_15_17_10_0E, 0x0E_11_11_11_1F_11_11, 0x1E_11_11_1E_11_11_1E, 0x0E_11_10_10_10_11_0E,  // @ A B C
    0x1C_12_11_11_11_12_1C, 0x1F_10_10_1E_10_10_1F, 0x1F_10_10_1E_10_10_10, 0x0E_11_10_17_11_11_0F,  // D E F G
    0x11_11_11_1F_11_11_11, 0x0E_04_04_04_04_04_0E, 0x07_02_02_02_02_12_0C, 0x11_12_14_18_14_12_11,  // H I J K
    0x10_10_10_10_10_10_1F, 0x11_1B_15_15_11_11_11, 0x11_11_19_15_13_11_11, 0x0E_11_11_11_11_11_0E,  // L M N O
    0x1E_11_11_1E_10_10_10, 0x0E_11_11_11_15_12_0D, 0x1E_11_11_1E_14_12_11, 0x0F_10_10_0E_01_01_1E,  // P Q R S
    0x1F_04_04_04_04_04_04, 0x11_11_11_11_11_11_0E, 0x11_11_11_11_11_0A_04, 0x11_11_11_15_15_15_0A,  // T U V W
    0x11_11_0A_04_0A_11_11, 0x11_11_11_0A_04_04_04, 0x1F_01_02_04_08_10_1F, 0x0E_08_08_08_08_08_0E,  // X Y Z [
    0x00_10_08_04_02_01_00, 0x0E_02_02_02_02_02_0E, 0x04_0A_11_00_00_00_00, 0x00_00_00_00_00_00_1F,  // \ ] ^ _
  ]
}
