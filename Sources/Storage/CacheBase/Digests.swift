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

  /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  private static let initialState: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
  ]

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]
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
