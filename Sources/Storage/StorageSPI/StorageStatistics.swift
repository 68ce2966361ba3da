/// How much a store holds.
public struct StorageStatistics: Sendable, Hashable {
  /// What one namespace holds.
  public struct Namespace: Sendable, Hashable {
    /// The namespace.
    public let name: String
    /// The number of its entries, including expired ones that are still there.
    public let entries: Int
    /// The sum of their payload sizes, in bytes.
    public let payloadBytes: Int

    /// The statistics of the namespace `name`.
    public init(name: String, entries: Int, payloadBytes: Int) {
      self.name = name
      self.entries = entries
      self.payloadBytes = payloadBytes
    }
  }

  /// The number of entries and their sizes.
  public let tally: EntryTally

  /// The space that the store takes up, in bytes: all its files, or memory.
  public let storageBytes: Int

  /// The statistics of each namespace that has entries, ordered by name.
  public var namespaces: [Namespace] {
    tally.namespaces.sorted { $0.key < $1.key }.map { name, count in
      Namespace(name: name, entries: count.entries, payloadBytes: count.payloadBytes)
    }
  }

  /// The number of entries in all namespaces.
  public var entries: Int { tally.total().entries }

  /// The sum of all payload sizes, in bytes.
  public var payloadBytes: Int { tally.total().payloadBytes }

  /// Statistics of a store that takes up `storageBytes` bytes.
  public init(tally: EntryTally, storageBytes: Int) {
    self.tally = tally
    self.storageBytes = storageBytes
  }
}
