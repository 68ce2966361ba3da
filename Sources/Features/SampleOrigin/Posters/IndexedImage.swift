internal import CZlib
internal import FetchVocabulary

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

/// Writes PNG files (ISO/IEC 15948, W3C Portable Network Graphics): palette images, eight bits per pixel, not
/// interlaced.
enum PNGEncoder {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// The PNG file of `image`.
  ///
  /// - Throws: `CacheError`: `invalidAnswer` if zlib runs out of memory.
  static func encode(_ image: IndexedImage) throws(CacheError) -> [UInt8] {
    let data = try compressed(scanlines(image))
    var file = signature
    // Eight bits per pixel, palette, the only compression and filter methods, no interlace.
    append("IHDR", bigEndian(image.width) + bigEndian(image.height) + [8, 3, 0, 0, 0], to: &file)
    append("PLTE", image.palette.flatMap { [$0.red, $0.green, $0.blue] }, to: &file)
    append("IDAT", data, to: &file)
    append("IEND", [], to: &file)
    return file
  }

  /// The rows, each after the number of its filter: none, which suits palettes best.
  private static func scanlines(_ image: IndexedImage) -> [UInt8] {
    var lines: [UInt8] = []
    lines.reserveCapacity((image.width + 1) * image.height)
    for row in 0..<image.height {
      lines.append(0)
      lines.append(contentsOf: image.pixels[row * image.width..<(row + 1) * image.width])
    }
    return lines
  }

  private static func compressed(_ bytes: [UInt8]) throws(CacheError) -> [UInt8] {
    var size = compressBound(uLong(bytes.count))
    var status = Z_OK
    let output = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      status = compress2(buffer.baseAddress, &size, bytes, uLong(bytes.count), compressionLevel)
      count = status == Z_OK ? Int(size) : 0
    }
    if status == Z_OK { return output }
    throw CacheError(.invalidAnswer, "the poster cannot be compressed (zlib error \(status))", hint: "free some memory")
  }

  /// zlib's own default.
  private static let compressionLevel: Int32 = 6

  private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
    let body = Array(type.utf8) + data
    file += bigEndian(data.count)
    file += body
    file += bigEndian(Int(crc32(0, body, uInt(body.count))))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
