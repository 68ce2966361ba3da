/// A colour with eight bits per channel.
struct RGB: Sendable, Hashable {
  var red: UInt8
  var green: UInt8
  var blue: UInt8

  /// The colour at `fraction`, 0 to 1, of the way from this one to `other`.
  func mixed(with other: RGB, _ fraction: Double) -> RGB {
    func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
      UInt8(clamping: Int((Double(from) + (Double(to) - Double(from)) * fraction).rounded()))
    }
    return RGB(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
  }

  /// The colour of a hue in turns, and a saturation and a lightness from 0 to 1 (the HSL model of CSS Color 4, section
  /// 7).
  init(hue: Double, saturation: Double, lightness: Double) {
    func channel(_ shift: Double) -> UInt8 {
      let position = (shift + (hue - hue.rounded(.down)) * 12).truncatingRemainder(dividingBy: 12)
      let ramp = max(-1, min(position - 3, min(9 - position, 1)))
      let value = lightness - saturation * min(lightness, 1 - lightness) * ramp
      return UInt8(clamping: Int((value * 255).rounded()))
    }
    self.init(red: channel(0), green: channel(8), blue: channel(4))
  }

  /// The colour with these channels.
  init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }
}

/// An image whose pixels are indices into a palette.
struct IndexedImage: Sendable {
  /// The width in pixels.
  let width: Int
  /// The height in pixels.
  let height: Int
  /// The colours, at most 256.
  let palette: [RGB]
  /// The pixels, row by row from the top, each the index of its colour.
  var pixels: [UInt8]

  /// An image filled with the palette's first colour.
  init(width: Int, height: Int, palette: [RGB]) {
    self.width = width
    self.height = height
    self.palette = palette
    self.pixels = [UInt8](repeating: 0, count: width * height)
  }
}
