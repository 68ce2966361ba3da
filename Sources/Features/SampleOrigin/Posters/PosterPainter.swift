internal import Base
internal import FetchVocabulary

/// Draws posters: artwork above, title and year on a dark panel below. The movie's identifier determines pattern and
/// colours.
enum PosterPainter {
  /// The poster of `record`, `width` pixels wide and half as high again.
  ///
  /// - Throws: `CacheError`: `cancelled`.
  static func paint(_ record: MovieRecord, width: Int) throws(CacheError) -> IndexedImage {
    var random = SeededGenerator(seed: UInt64(record.id) ?? 0)
    let palette = PosterPalette(&random)
    let layout = PosterLayout(title: PosterFont.writable(record.title))
    var image = IndexedImage(width: width, height: (3 * width + 1) / 2, palette: palette.colors)

    let scale = Double(width) / PosterLayout.width
    let pattern = PosterPattern.random(&random, height: layout.panelTop / PosterLayout.width)
    try paintArtwork(pattern, rows: Int((layout.panelTop * scale).rounded()), on: &image)
    paintWriting(layout, footer: record.year, scale: scale, on: &image)
    return image
  }

  private static func paintArtwork(
    _ pattern: PosterPattern, rows: Int, on image: inout IndexedImage
  ) throws(CacheError) {
    let pixel = 1 / Double(image.width)
    let height = Double(rows) * pixel
    for row in 0..<rows {
      if Task.isCancelled { throw .cancelled }
      let y = (Double(row) + 0.5) * pixel
      let ground = PosterPalette.ground(y / height)
      for column in 0..<image.width {
        let x = (Double(column) + 0.5) * pixel
        let strength = pattern.strength(x, y, height: height, pixel: pixel)
        image.pixels[row * image.width + column] = ground + PosterPalette.figure(strength)
      }
    }
  }

  private static func paintWriting(_ layout: PosterLayout, footer: String, scale: Double, on image: inout IndexedImage)
  {
    let left = PosterLayout.margin * scale
    for (index, line) in layout.lines.enumerated() {
      let top = (layout.titleTop + Double(index) * layout.lineHeight) * scale
      PosterWriting(left: left, top: top, dot: layout.size * scale).write(line, on: &image, PosterPalette.ink)
    }
    let footerWriting = PosterWriting(
      left: left, top: layout.footerTop * scale, dot: PosterLayout.footerSize * scale)
    footerWriting.write(footer, on: &image, PosterPalette.accent)
  }
}

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

/// The 256 colours of a poster and their places in the palette: a dark panel with its text, and artwork of two
/// gradients, one for the ground and one for the figures on it. Each pair has intermediate colours for smooth edges.
struct PosterPalette: Sendable {
  /// The number of steps of the gradients, from the top of the artwork to its bottom.
  static let levels = 32
  /// The number of steps from the ground to a figure.
  static let mixes = 7
  /// The number of steps from the panel to its text.
  static let inks = 16

  /// All colours, in the order of the indices from `ink`, `accent` and `ground`.
  let colors: [RGB]

  /// Random colours from `random`.
  init(_ random: inout SeededGenerator) {
    let hue = random.unit()
    let figureHue = hue + [0.08, 0.42, 0.5, 0.58][random.next(below: 4)]
    let top = RGB(hue: hue, saturation: 0.55, lightness: 0.24)
    let bottom = RGB(hue: hue + 0.09, saturation: 0.62, lightness: 0.52)
    let figureTop = RGB(hue: figureHue, saturation: 0.82, lightness: 0.62)
    let figureBottom = RGB(hue: figureHue + 0.06, saturation: 0.78, lightness: 0.74)
    let panel = RGB(hue: hue, saturation: 0.45, lightness: 0.09)
    let paper = RGB(hue: figureHue, saturation: 0.3, lightness: 0.96)

    var colors = (0..<Self.inks).map { panel.mixed(with: paper, Self.part($0, of: Self.inks)) }
    colors += (0..<Self.inks).map { panel.mixed(with: figureTop, Self.part($0, of: Self.inks)) }
    for level in 0..<Self.levels {
      let ground = top.mixed(with: bottom, Self.part(level, of: Self.levels))
      let figure = figureTop.mixed(with: figureBottom, Self.part(level, of: Self.levels))
      colors += (0..<Self.mixes).map { ground.mixed(with: figure, Self.part($0, of: Self.mixes)) }
    }
    self.colors = colors
  }

  /// The colour index of text that covers `coverage`, 0 to 1, of a pixel of the panel.
  static func ink(_ coverage: Double) -> UInt8 { step(coverage, of: inks) }

  /// The colour index of accents that cover `coverage`, 0 to 1, of a pixel of the panel.
  static func accent(_ coverage: Double) -> UInt8 { UInt8(inks) + step(coverage, of: inks) }

  /// The first colour index of the artwork at `height`, 0 to 1 from its top.
  static func ground(_ height: Double) -> UInt8 {
    UInt8(2 * inks) + min(UInt8(max(height, 0) * Double(levels)), UInt8(levels - 1)) * UInt8(mixes)
  }

  /// The number to add to `ground` for a figure of the given `strength`, 0 to 1.
  static func figure(_ strength: Double) -> UInt8 { step(strength, of: mixes) }

  private static func step(_ fraction: Double, of count: Int) -> UInt8 {
    UInt8(min(max(fraction, 0), 1) * Double(count - 1) + 0.5)
  }

  private static func part(_ index: Int, of count: Int) -> Double { Double(index) / Double(count - 1) }
}
