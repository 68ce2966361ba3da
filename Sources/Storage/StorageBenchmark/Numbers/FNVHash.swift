/// YCSB's hash for scattering numbers: the 64-bit FNV-1a hash of a number's eight bytes, least significant first,
/// without its sign (Fowler, Noll and Vo).
enum FNVHash {
  /// The hash of `number`, from 0 to 2^63.
  @inline(__always)
  static func hash(_ number: UInt64) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var rest = number
    for _ in 0..<8 {
      hash = (hash ^ (rest & 0xFF)) &* 0x100_0000_01B3
      rest >>= 8
    }
    return Int64(bitPattern: hash).magnitude
  }
}
