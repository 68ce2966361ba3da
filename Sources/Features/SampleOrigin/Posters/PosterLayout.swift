/// The layout of a poster's title: its size and its line breaks. It is the same for all widths.
///
/// Lengths are in dots of the font at its size on the narrowest poster, which is `width` dots wide.
struct PosterLayout: Sendable {
  /// The width of a poster.
  static let width = 92.0
  /// The height of a poster.
  static let height = 138.0
  /// The margin left and right of the text and below it.
  static let margin = 7.0
  /// The dot size of the line below the title.
  static let footerSize = 1.0

  /// The title's lines.
  let lines: [String]
  /// The dot size of the title.
  let size: Double

  /// The distance from the top of one line to the next.
  var lineHeight: Double { size * 9 }

  /// The top of the text panel; the artwork is above it.
  var panelTop: Double { footerTop - Double(lines.count) * lineHeight - 8 }

  /// The top of the title.
  var titleTop: Double { panelTop + 7 }

  /// The top of the line below the title.
  var footerTop: Double { Self.height - Self.margin - Double(PosterFont.height) * Self.footerSize }

  /// The largest layout that breaks no word of `title` and is not too high; for long titles the smallest, with words
  /// broken if necessary.
  init(title: String) {
    for (size, most) in [(2.0, 2), (1.5, 3)] {
      let columns = Self.columns(size)
      let lines = Self.wrapped(title, columns: columns)
      let isWhole = title.split(separator: " ").allSatisfy { $0.count <= columns }
      if isWhole && lines.count <= most {
        self.init(lines: lines, size: size)
        return
      }
    }
    self.init(lines: Self.wrapped(title, columns: Self.columns(1)), size: 1)
  }

  private init(lines: [String], size: Double) {
    self.lines = lines
    self.size = size
  }

  /// The number of glyphs that fit into a line; the last one needs no gap.
  private static func columns(_ size: Double) -> Int {
    Int((width - 2 * margin + size) / (size * Double(PosterFont.width + 1)))
  }

  /// The words of `text` in lines of at most `columns` characters.
  private static func wrapped(_ text: String, columns: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ").flatMap({ pieces($0, columns) }) {
      if let last = lines.last, last.count + 1 + word.count <= columns {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(word)
      }
    }
    return lines
  }

  private static func pieces(_ word: Substring, _ length: Int) -> [String] {
    var rest = word
    var pieces: [String] = []
    while !rest.isEmpty {
      pieces.append(String(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return pieces
  }
}
