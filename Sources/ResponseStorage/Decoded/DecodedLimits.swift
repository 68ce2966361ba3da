/// How much of what was decoded an `EntryStore` keeps in memory. Where there is more, what was not used for the longest
/// time goes first, for entries that are read for the second time; what is read once takes no place of another.
public struct DecodedLimits: Sendable, Hashable {
  /// How many entries, 0 or more; with 0 every read decodes.
  public let maxEntries: Int
  /// How many bytes their payloads may have had in all, 0 or more. A page of movies takes about twice as much memory as
  /// its payload has bytes.
  public let maxBytes: Int

  /// Limits as given.
  public init(maxEntries: Int, maxBytes: Int) {
    (self.maxEntries, self.maxBytes) = (maxEntries, maxBytes)
  }

  /// 1,024 entries and 16 MiB.
  public static let standard = DecodedLimits(maxEntries: 1_024, maxBytes: 16 << 20)

  /// Nothing is kept.
  public static let none = DecodedLimits(maxEntries: 0, maxBytes: 0)
}
