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

    init(_ held: StoreCount) {
      let total = held.tally.total(except: Lease.namespace)
      (entries, payloadBytes, storageBytes) = (total.entries, total.payloadBytes, held.storageBytes ?? 0)
    }
  }

  /// What the store held before compaction.
  public let before: Extent
  /// What the store holds now, including what other processes have written meanwhile.
  public let after: Extent

  init(before: StoreCount, after: StoreCount) {
    self.before = Extent(before)
    self.after = Extent(after)
  }
}
