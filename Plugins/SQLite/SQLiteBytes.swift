/// Bytes that may be damaged: every access returns `nil` if it is out of range.
struct SQLiteBytes {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The big-endian number in `count` bytes at `offset`.
  func number(at offset: Int, _ count: Int) -> Int? {
    guard offset >= 0, count <= 8, offset <= bytes.count - count else { return nil }
    var value: UInt64 = 0
    for byte in bytes[offset..<offset + count] { value = value << 8 | UInt64(byte) }
    return Int(truncatingIfNeeded: value)
  }

  /// The same number, signed, in two's complement.
  func signed(at offset: Int, _ count: Int) -> Int64? {
    guard count > 0, let value = number(at: offset, count) else { return nil }
    let unused = 64 - 8 * count
    return (Int64(truncatingIfNeeded: value) << unused) >> unused
  }

  /// SQLite's variable-length integer at `offset`, which moves behind it: seven bits per byte, all eight of the ninth.
  func variable(at offset: inout Int) -> Int? {
    var value: UInt64 = 0
    for place in 0..<9 {
      guard let byte = number(at: offset, 1) else { return nil }
      offset += 1
      if place == 8 { return Int(truncatingIfNeeded: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { break }
    }
    return Int(truncatingIfNeeded: value)
  }

  /// `count` bytes from `offset` on.
  func slice(at offset: Int, _ count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, count >= 0, count <= bytes.count, offset <= bytes.count - count else { return nil }
    return bytes[offset..<offset + count]
  }
}
