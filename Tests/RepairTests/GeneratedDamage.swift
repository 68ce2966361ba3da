import SeededNumbers

/// What a medium, a crash or a stray program may do to a file: one kind of damage at one place, chosen by a seed.
struct GeneratedDamage: Sendable, CustomStringConvertible {
  /// What tells this damage from others: pass it to try one again.
  let seed: UInt64
  /// What was done, once it is done.
  private(set) var description: String
  /// Whether the end of the file is gone.
  private(set) var isCutOff = false
  /// Whether a part of the file now holds what another part holds.
  private(set) var isCopied = false

  private var random: SeededGenerator

  /// The damage of `seed`.
  init(seed: UInt64) {
    self.seed = seed
    description = "seed \(seed)"
    random = SeededGenerator(seed: seed)
  }

  /// How many damages a test makes: the number in the variable CACHECTL_DAMAGES, or else `usual`.
  static func seeds(_ usual: Int, environment: [String: String]) -> Range<UInt64> {
    let start = environment["CACHECTL_DAMAGE_SEED"].flatMap { UInt64($0) }
    let count = environment["CACHECTL_DAMAGES"].flatMap { UInt64($0) } ?? (start == nil ? UInt64(usual) : 1)
    return (start ?? 1)..<(start ?? 1) + count
  }

  /// Damages `bytes`. Places near the beginnings of pages are likelier than others.
  mutating func apply(to bytes: inout [UInt8]) {
    guard !bytes.isEmpty else { return }
    let kind = Int.random(in: 0..<12, using: &random)
    switch kind {
    case 0...2: setByte(&bytes)
    case 3...5: flipBit(&bytes)
    case 6: fill(&bytes, with: { _ in 0 }, "zeroed")
    case 7: fill(&bytes, with: { UInt8.random(in: 0...255, using: &$0) }, "overwritten")
    case 8: cutOff(&bytes)
    case 9: copyPage(&bytes)
    case 10: for _ in 0..<Int.random(in: 2...6, using: &random) { flipBit(&bytes) }
    default: zeroPages(&bytes)
    }
  }

  private mutating func place(in bytes: [UInt8]) -> Int {
    guard random.isOne(in: 2) else { return Int.random(in: bytes.indices, using: &random) }
    let page = Int.random(in: 0...bytes.count / 4_096, using: &random)
    return min(page * 4_096 + Int.random(in: 0..<160, using: &random), bytes.count - 1)
  }

  private mutating func setByte(_ bytes: inout [UInt8]) {
    let place = place(in: bytes)
    let value = random.pick([0, 1, 2, 0x46, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)])
    note("byte \(place) set from \(bytes[place]) to \(value)")
    bytes[place] = value
  }

  private mutating func flipBit(_ bytes: inout [UInt8]) {
    let (place, bit) = (place(in: bytes), Int.random(in: 0..<8, using: &random))
    note("bit \(bit) of byte \(place) flipped")
    bytes[place] ^= 1 << UInt8(bit)
  }

  private mutating func fill(
    _ bytes: inout [UInt8], with value: (inout SeededGenerator) -> UInt8, _ verb: String
  ) {
    let start = place(in: bytes)
    let end = min(bytes.count, start + random.pick([8, 100, 512, 4_096, 20_480]))
    note("bytes \(start) to \(end) \(verb)")
    for index in start..<end { bytes[index] = value(&random) }
  }

  private mutating func cutOff(_ bytes: inout [UInt8]) {
    let size = random.isOne(in: 2) ? place(in: bytes) : Int.random(in: 0...bytes.count / 4_096, using: &random) * 4_096
    note("cut off at \(size)")
    isCutOff = true
    bytes.removeSubrange(size...)
  }

  /// As a medium does that writes a page to another one's place.
  private mutating func copyPage(_ bytes: inout [UInt8]) {
    let pages = bytes.count / 4_096
    guard pages > 1 else { return setByte(&bytes) }
    let from = Int.random(in: 0..<pages, using: &random) * 4_096
    let to = Int.random(in: 0..<pages, using: &random) * 4_096
    note("the page at \(from) written over that at \(to)")
    isCopied = true
    bytes.replaceSubrange(to..<to + 4_096, with: Array(bytes[from..<from + 4_096]))
  }

  private mutating func zeroPages(_ bytes: inout [UInt8]) {
    let start = Int.random(in: 0...bytes.count / 4_096, using: &random) * 4_096
    let end = min(bytes.count, start + 4_096 * Int.random(in: 1...3, using: &random))
    guard start < end else { return setByte(&bytes) }
    note("bytes \(start) to \(end) zeroed")
    for index in start..<end { bytes[index] = 0 }
  }

  private mutating func note(_ what: String) { description += ", " + what }
}
