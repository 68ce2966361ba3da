/// Where a poster's title goes: how large it is written and where its lines break. The same for all widths.
///
/// Lengths are in dots of the font as large as it is on the narrowest poster, of which the width is `width`.
struct PosterLayout: Sendable {
  /// The width of a poster.
  static let width = 92.0
  /// The height of a poster.
  static let height = 138.0
  /// The space left and right of the writing and below it.
  static let margin = 7.0
  /// The size of a dot of the line below the title.
  static let footerSize = 1.0

  /// The title's lines.
  let lines: [String]
  /// The size of a dot of the title.
  let size: Double

  /// From the top of one line to that of the next.
  var lineHeight: Double { size * 9 }

  /// Where the panel begins that the writing is on; the artwork is above it.
  var panelTop: Double { footerTop - Double(lines.count) * lineHeight - 8 }

  /// Where the title begins.
  var titleTop: Double { panelTop + 7 }

  /// Where the line below the title begins.
  var footerTop: Double { Self.height - Self.margin - Double(PosterFont.height) * Self.footerSize }

  /// The largest layout in which no word of `title` is broken and which is not too high; the smallest for long titles,
  /// with words broken where they must.
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

  /// How many glyphs fit into a line; the last one needs no gap after it.
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
