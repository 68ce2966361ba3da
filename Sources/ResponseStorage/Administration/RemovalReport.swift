internal import CacheDomain
public import StorageSPI

/// What a removal removed or made stale, or would.
public struct RemovalReport: Sendable, Hashable {
  /// The number of entries removed, or made stale.
  public private(set) var entries = 0
  /// The sum of the sizes of their payloads, in bytes, as far as they are known.
  public private(set) var payloadBytes = 0
  /// The keys named under which there was no entry.
  public internal(set) var missing: [CacheKey] = []

  /// What could not be listed, and so was not removed; entries that could not be made stale because they are damaged.
  public internal(set) var damage = StoreDamage()

  mutating func add(_ page: [EntrySummary]) {
    entries += page.count
    payloadBytes += page.reduce(0) { $0 + $1.payloadBytes }
  }

  mutating func addDamaged() { entries += 1 }

  mutating func add(_ other: RemovalReport) {
    entries += other.entries
    payloadBytes += other.payloadBytes
    missing += other.missing
    damage = damage + other.damage
  }

  /// The error that the work was cancelled after what the report has. `verb` says what happens to an entry.
  func interruption(_ verb: String, dryRun: Bool) -> CacheError {
    .interruption(
      of: dryRun ? "the dry run" : "the command", EntryProgress.text(dryRun ? 0 : entries, verb),
      hint: "repeat it to go on")
  }
}
