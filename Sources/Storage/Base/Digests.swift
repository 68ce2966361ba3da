/// The SHA-256 digest (FIPS 180-4) of data that fits into memory.
package struct SHA256: Sendable {
  private var pending: [UInt8] = []

  /// Creates a digest of no data.
  package init() {}

  /// Adds `bytes` to the data.
  package mutating func update(_ bytes: [UInt8]) { pending += bytes }

  /// The digest of all the data, as 64 hexadecimal digits.
  package var hexText: String { digest.map { Hexadecimal.text($0) }.joined() }

  /// The digest of `bytes` that only a holder of `key` can compute (HMAC, RFC 2104), as 64 hexadecimal digits.
  package static func keyedHexText(_ bytes: [UInt8], key: [UInt8]) -> String {
    let blockSize = 64
    var block = key.count > blockSize ? SHA256(key).bytes : key
    block += Array(repeating: 0, count: blockSize - block.count)
    let inner = SHA256(block.map { $0 ^ 0x36 } + bytes)
    return SHA256(block.map { $0 ^ 0x5C } + inner.bytes).hexText
  }

  private init(_ bytes: [UInt8]) { pending = bytes }

  private var bytes: [UInt8] {
    digest.flatMap { word in stride(from: UInt32(24), through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
    }
  }

  private var digest: [UInt32] {
    var state = Self.initialState
    let message = padded
    for start in stride(from: 0, to: message.count, by: 64) {
      Self.mix(message[start..<start + 64], into: &state)
    }
    return state
  }

  private var padded: [UInt8] {
    let zeros = (119 - pending.count % 64) % 64
    let length = UInt64(pending.count) * 8
    let suffix = stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> $0) }
    return pending + [0x80] + Array(repeating: 0, count: zeros) + suffix
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    let words = schedule(block)
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for round in 0..<64 {
      let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      let first = h &+ sum1 &+ ((e & f) ^ (~e & g)) &+ constants[round] &+ words[round]
      let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      let second = sum0 &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
  }

  private static func schedule(_ block: ArraySlice<UInt8>) -> [UInt32] {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
      let sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
      words.append(words[index - 16] &+ sigma0 &+ words[index - 7] &+ sigma1)
    }
    return words
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  /// The first 32 bits of the fractional parts of the square roots of the first 8 primes. Below: of the cube roots of
  /// the first 64 primes.
  private static let initialState: [UInt32] = primes.prefix(8).map { fraction($0, root: 2) }
  private static let constants: [UInt32] = primes.map { fraction($0, root: 3) }

  private static let primes: [UInt64] = (2...311).filter { number in
    (2..<number).allSatisfy { !number.isMultiple(of: $0) }
  }

  /// The largest `x` with `(x / 2^32)^root <= prime`, without its integer part. Found by bisection in exact integers.
  private static func fraction(_ prime: UInt64, root: Int) -> UInt32 {
    var (low, high) = (UInt64(0), UInt64(1) << 37)
    while high - low > 1 {
      let middle = (low + high) / 2
      if isAtMost(middle, prime, root) { low = middle } else { high = middle }
    }
    return UInt32(truncatingIfNeeded: low)
  }

  private static func isAtMost(_ x: UInt64, _ prime: UInt64, _ root: Int) -> Bool {
    let product = (0..<root).reduce(UInt128(1)) { product, _ in product * UInt128(x) }
    return product <= UInt128(prime) << UInt128(32 * root)
  }
}

/// The 64-bit hash FNV-1a (Fowler, Noll and Vo): short, and the same on every machine. It does not resist attacks.
public enum FNV1a {
  /// The hash of no bytes.
  public static let basis: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of `bytes`; with the hash of earlier bytes as `start`, the hash of both together.
  @inlinable
  public static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = basis) -> UInt64 {
    bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
