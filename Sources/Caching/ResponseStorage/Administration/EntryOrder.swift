internal import StorageSPI

/// An order in which entries are listed; ties are broken by key.
public enum EntryOrder: String, Sendable, CaseIterable {
  /// By key.
  case key
  /// The largest payload first.
  case size
  /// Stored or confirmed most recently first.
  case stored
  /// Used most recently first; unused entries come last.
  case used
}

/// An entry with its rank in an order.
struct RankedEntry: Comparable {
  let entry: EntrySummary
  /// Entries with higher ranks come first.
  private let rank: Int64

  /// Ranks `entry` in `order`; the order of use needs `accesses`.
  init(_ entry: EntrySummary, by order: EntryOrder, _ accesses: AccessReader?) {
    rank =
      switch order {
      case .key: 0
      case .size: Int64(entry.payloadBytes)
      case .stored: entry.metadata.storedAt.milliseconds
      case .used: accesses?.history(of: entry.key).lastUsedAt.milliseconds ?? 0
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
