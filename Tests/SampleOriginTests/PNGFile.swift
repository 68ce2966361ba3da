import CZlib

/// A PNG file, taken apart and checked: signature, order of chunks, checksums, sizes, the image data unpacked.
struct PNGFile {
  struct Flaw: Error {
    let what: String
  }

  let width: Int
  let height: Int
  /// The colours, three bytes each.
  let palette: [UInt8]
  /// The pixels, row by row, without the filter bytes.
  let pixels: [UInt8]

  init(_ file: [UInt8]) throws {
    guard file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { throw Flaw(what: "signature") }
    var chunks: [(type: String, data: [UInt8])] = []
    var rest = file[8...]
    while !rest.isEmpty {
      let length = Self.number(rest.prefix(4))
      guard rest.count >= length + 12 else { throw Flaw(what: "truncated chunk") }
      let body = Array(rest.dropFirst(4).prefix(length + 4))
      let sum = Self.number(rest.dropFirst(length + 8).prefix(4))
      guard crc32(0, body, UInt32(body.count)) == sum else { throw Flaw(what: "checksum") }
      chunks.append((String(decoding: body.prefix(4), as: UTF8.self), Array(body.dropFirst(4))))
      rest = rest.dropFirst(length + 12)
    }
    guard chunks.map(\.type) == ["IHDR", "PLTE", "IDAT", "IEND"] else { throw Flaw(what: "chunks") }
    width = Self.number(chunks[0].data[0..<4])
    height = Self.number(chunks[0].data[4..<8])
    guard chunks[0].data.count == 13, chunks[0].data[8...] == [8, 3, 0, 0, 0] else { throw Flaw(what: "header") }
    palette = chunks[1].data
    guard palette.count.isMultiple(of: 3), (3...768).contains(palette.count) else { throw Flaw(what: "palette") }
    pixels = try Self.pixels(chunks[2].data, width: width, height: height)
    guard pixels.allSatisfy({ Int($0) < palette.count / 3 }) else { throw Flaw(what: "pixel beyond the palette") }
    guard chunks[3].data.isEmpty else { throw Flaw(what: "end") }
  }

  private static func pixels(_ data: [UInt8], width: Int, height: Int) throws -> [UInt8] {
    var lines = [UInt8](repeating: 0xFF, count: (width + 1) * height + 1)
    var size = uLong(lines.count)
    guard uncompress(&lines, &size, data, uLong(data.count)) == Z_OK else { throw Flaw(what: "compressed data") }
    guard size == uLong((width + 1) * height) else { throw Flaw(what: "size") }
    return try (0..<height).flatMap { row in
      guard lines[row * (width + 1)] == 0 else { throw Flaw(what: "filter") }
      return lines[row * (width + 1) + 1..<(row + 1) * (width + 1)]
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }
}
