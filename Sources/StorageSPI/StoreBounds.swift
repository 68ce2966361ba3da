/// How much a store may hold, counted the same way on every engine: entries, and the bytes of their payloads.
public struct StoreBounds: Sendable, Hashable {
  /// The largest number of entries.
  public let maxEntries: Int
  /// The largest sum of the sizes of all payloads, in bytes.
  public let maxPayloadBytes: Int
  /// The namespace whose entries are not counted; `nil` where all are.
  public let exemptNamespace: String?

  /// Bounds with the given fields, the numbers not negative.
  public init(maxEntries: Int, maxPayloadBytes: Int, exemptNamespace: String? = nil) {
    self.maxEntries = maxEntries
    self.maxPayloadBytes = maxPayloadBytes
    self.exemptNamespace = exemptNamespace
  }

  /// Whether a store with `tally` is within the bounds.
  public func contain(_ tally: EntryTally) -> Bool {
    let total = tally.total(except: exemptNamespace)
    return total.entries <= maxEntries && total.payloadBytes <= maxPayloadBytes
  }

  /// Throws `StorageError` with the code `overBounds` where a store with `tally` is not within the bounds.
  public func require(_ tally: EntryTally) throws(StorageError) {
    guard contain(tally) else {
      throw StorageError(
        .overBounds, "the store would hold more than \(maxEntries) entries or \(maxPayloadBytes) bytes",
        hint: "remove entries, or raise cache.maxEntries or cache.maxBytes")
    }
  }
}
