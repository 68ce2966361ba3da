internal import StorageSPI

/// An order in which entries are listed; those that are equal in it are in the order of their keys.
public enum EntryOrder: String, Sendable, CaseIterable {
  /// By key.
  case key
  /// The largest payload first.
  case size
  /// What was stored or confirmed last first.
  case stored
  /// What was used last first, and what never was at the end.
  case used
}

/// An entry with its place in an order.
struct RankedEntry: Comparable {
  let entry: EntrySummary
  /// The largest number comes first.
  private let rank: Int64

  /// The place of `entry` in `order`, which needs `uses` where it is that of use.
  init(_ entry: EntrySummary, by order: EntryOrder, _ uses: UseReader?) {
    rank =
      switch order {
      case .key: 0
      case .size: Int64(entry.payloadBytes)
      case .stored: entry.metadata.storedAt.milliseconds
      case .used: uses?.use(of: entry.key).lastUsedAt.milliseconds ?? 0
      }
    var metadata = entry.metadata
    metadata.attributes = [:]
    self.entry = EntrySummary(key: entry.key, metadata: metadata, payloadBytes: entry.payloadBytes)
  }

  static func < (left: RankedEntry, right: RankedEntry) -> Bool {
    left.rank == right.rank ? left.entry.key < right.entry.key : left.rank > right.rank
  }

  static func == (left: RankedEntry, right: RankedEntry) -> Bool {
    left.rank == right.rank && left.entry.key == right.entry.key
  }
}
