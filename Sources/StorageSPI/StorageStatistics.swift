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

  /// What each namespace that has entries holds, ordered by name.
  public let namespaces: [Namespace]

  /// What the store takes up on its medium, in bytes: files with all their auxiliary files, or memory.
  public let storageBytes: Int

  /// The number of entries in all namespaces.
  public var entries: Int { namespaces.reduce(0) { $0 + $1.entries } }

  /// The sum of the sizes of all payloads, in bytes.
  public var payloadBytes: Int { namespaces.reduce(0) { $0 + $1.payloadBytes } }

  /// Statistics with the given fields.
  public init(namespaces: [Namespace], storageBytes: Int) {
    self.namespaces = namespaces
    self.storageBytes = storageBytes
  }
}
