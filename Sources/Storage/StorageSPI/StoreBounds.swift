/// Limits on a store, counted the same way on every engine: the number of entries, and the bytes of their payloads.
public struct StoreBounds: Sendable, Hashable {
  /// The largest number of entries.
  public let maxEntries: Int
  /// The largest sum of all payload sizes, in bytes.
  public let maxPayloadBytes: Int
  /// The namespace whose entries do not count; `nil` if all entries count.
  public let exemptNamespace: String?

  /// Bounds; the numbers must not be negative.
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

  /// Throws `CacheError` with the code `overBounds` if a store with `tally` is not within the bounds.
  public func require(_ tally: EntryTally) throws(CacheError) {
    guard contain(tally) else {
      throw CacheError(
        .overBounds, "the store would hold more than \(maxEntries) entries or \(maxPayloadBytes) bytes",
        hint: "remove entries, or raise cache.maxEntries or cache.maxBytes")
    }
  }
}
