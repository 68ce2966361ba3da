/// How much a store holds.
public struct StorageStatistics: Sendable, Hashable {
  /// What one namespace holds.
  public struct Namespace: Sendable, Hashable {
    /// The namespace.
    public let name: String
    /// The number of entries in it, expired ones that are still there among them.
    public let entries: Int
    /// The sum of the sizes of their payloads, in bytes.
    public let payloadBytes: Int

    /// Statistics with the given fields.
    public init(name: String, entries: Int, payloadBytes: Int) {
      self.name = name
      self.entries = entries
      self.payloadBytes = payloadBytes
    }
  }

  /// How many entries there are and how large they are.
  public let tally: EntryTally

  /// What the store takes up on its medium, in bytes: files with all their auxiliary files, or memory.
  public let storageBytes: Int

  /// What each namespace that has entries holds, ordered by name.
  public var namespaces: [Namespace] {
    tally.namespaces.sorted { $0.key < $1.key }.map { name, count in
      Namespace(name: name, entries: count.entries, payloadBytes: count.payloadBytes)
    }
  }

  /// The number of entries in all namespaces.
  public var entries: Int { tally.total().entries }

  /// The sum of the sizes of all payloads, in bytes.
  public var payloadBytes: Int { tally.total().payloadBytes }

  /// Statistics with the given fields.
  public init(tally: EntryTally, storageBytes: Int) {
    self.tally = tally
    self.storageBytes = storageBytes
  }
}
