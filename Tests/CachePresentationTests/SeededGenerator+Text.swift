import SeededNumbers

extension SeededGenerator {
  /// A text of up to `count` scalars, every kind of trouble among them.
  mutating func text(upTo count: Int = 12) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...count, using: &self) { text.unicodeScalars.append(scalar()) }
    return text
  }

  private mutating func scalar() -> Unicode.Scalar {
    let range: ClosedRange<UInt32> =
      switch Int.random(in: 0..<8, using: &self) {
      case 0: 0...0x1F
      case 1: 0x7F...0x9F
      case 2: 0x2000...0x206F
      case 3: 0x4E00...0x4EFF
      case 4: 0x300...0x36F
      case 5: 0x1F300...0x1F9FF
      case 6: 0...0x10FFFF
      default: 0x20...0x7E
      }
    return Unicode.Scalar(UInt32.random(in: range, using: &self)) ?? "\u{FFFD}"
  }
}
