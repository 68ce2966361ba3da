/// The hash FNV-1a of 64 bits (Fowler, Noll and Vo): short, and the same on every machine. It resists no attack.
public enum FNV1a {
  /// The hash of no bytes.
  public static let basis: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of `bytes`, or of what has the hash `start` and then `bytes`.
  @inlinable
  public static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = basis) -> UInt64 {
    bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
