/// How many decoded values an `EntryStore` keeps in memory. Once that is reached, a new entry gets in only when it is
/// read for the second time, and replaces the one that has been unused longest.
public struct DecodedLimits: Sendable, Hashable {
  /// The number of entries, 0 or more; with 0, every read decodes.
  public let maxEntries: Int
  /// The total size of their payloads in bytes, 0 or more. A decoded page of movies takes about twice the memory of its
  /// payload.
  public let maxBytes: Int

  /// Creates limits.
  public init(maxEntries: Int, maxBytes: Int) {
    (self.maxEntries, self.maxBytes) = (maxEntries, maxBytes)
  }

  /// 1,024 entries and 16 MiB.
  public static let standard = DecodedLimits(maxEntries: 1_024, maxBytes: 16 << 20)

  /// Keeps nothing.
  public static let none = DecodedLimits(maxEntries: 0, maxBytes: 0)
}
