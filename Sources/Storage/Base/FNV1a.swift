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
