/// A generator of random numbers that repeats itself for the same seed (SplitMix64, Steele, Lea and Flood 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

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
