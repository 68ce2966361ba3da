internal import FetchVocabulary
public import StorageSPI

/// What a removal removed or made stale; after a dry run, what it would.
public struct RemovalReport: Sendable, Hashable {
  /// The number of entries that were removed or made stale.
  public private(set) var entries: Int
  /// The total size of their payloads in bytes, as far as it is known.
  public private(set) var payloadBytes: Int
  /// The requested keys that have no entry.
  public internal(set) var missing: [CacheKey] = []

  /// What could not be listed, and so was not removed; also entries too damaged to be made stale.
  public internal(set) var damage = StoreDamage()

  package init(entries: Int = 0, payloadBytes: Int = 0) {
    (self.entries, self.payloadBytes) = (entries, payloadBytes)
  }

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

  /// The error for a removal that was cancelled after what this report counts. `verb` says what happens to an entry.
  func interruption(_ verb: String, dryRun: Bool) -> CacheError {
    .interruption(
      of: dryRun ? "the dry run" : "the command", EntryProgress.text(dryRun ? 0 : entries, verb),
      hint: "repeat it to go on")
  }
}
