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
