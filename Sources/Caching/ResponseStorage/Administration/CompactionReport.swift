internal import StorageSPI

/// The result of compacting a store.
public struct CompactionReport: Sendable, Hashable {
  /// How much a store holds.
  public struct Extent: Sendable, Hashable {
    /// The number of entries, without the leases of flights.
    public let entries: Int
    /// The total size of their payloads, in bytes.
    public let payloadBytes: Int
    /// The space that the store takes up on its medium, in bytes.
    public let storageBytes: Int

    package init(entries: Int, payloadBytes: Int, storageBytes: Int) {
      (self.entries, self.payloadBytes, self.storageBytes) = (entries, payloadBytes, storageBytes)
    }

    init(_ held: StoreCount) {
      let total = held.tally.total(except: Lease.namespace)
      self.init(entries: total.entries, payloadBytes: total.payloadBytes, storageBytes: held.storageBytes ?? 0)
    }
  }

  /// What the store held before compaction.
  public let before: Extent
  /// What the store holds now, including what other processes have written meanwhile.
  public let after: Extent

  package init(before: Extent, after: Extent) {
    (self.before, self.after) = (before, after)
  }
}
