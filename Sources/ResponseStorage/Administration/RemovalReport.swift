public import StorageSPI

/// What a removal removed, or would remove.
public struct RemovalReport: Sendable, Hashable {
  /// The number of entries removed.
  public private(set) var entries = 0
  /// The sum of the sizes of their payloads, in bytes, as far as they are known.
  public private(set) var payloadBytes = 0
  /// The keys named under which there was no entry.
  public internal(set) var missing: [CacheKey] = []

  mutating func add(_ page: [EntrySummary]) {
    entries += page.count
    payloadBytes += page.reduce(0) { $0 + $1.payloadBytes }
  }

  mutating func addDamaged() { entries += 1 }
}
