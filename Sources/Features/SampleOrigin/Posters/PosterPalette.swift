internal import Base

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
