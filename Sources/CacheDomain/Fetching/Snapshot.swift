/// A value as it was at some moment, and where it came from.
public struct Snapshot<Value: Sendable>: Sendable {
  /// Where a value came from.
  public enum Source: String, Sendable {
    /// The cache, also where the origin confirmed the entry.
    case cache
    /// The origin.
    case origin
  }

  /// The value.
  public var value: Value
  /// Where it came from.
  public var source: Source
  /// Whether the origin has just confirmed that the cached value still holds.
  public var isRevalidated: Bool
  /// What is known of the entry in the cache.
  public var entry: EntryFacts
  /// Failures that did not keep the value from being answered.
  public var warnings: [CacheError]

  /// A snapshot with the given fields.
  public init(
    value: Value, source: Source, isRevalidated: Bool = false, entry: EntryFacts, warnings: [CacheError] = []
  ) {
    self.value = value
    self.source = source
    self.isRevalidated = isRevalidated
    self.entry = entry
    self.warnings = warnings
  }

  /// Why the cache did not keep the value; `nil` where it did, or was not to.
  public var writeFailure: CacheError? { entry.isStored ? nil : warnings.first { !$0.mayBeStoodInFor } }
}

/// What is known of a cached value, besides the value. Points in time are durations since 1970-01-01T00:00:00Z.
public struct EntryFacts: Sendable, Hashable {
  /// The key of the entry.
  public let key: String
  /// When it was stored or last confirmed.
  public let storedAt: Duration
  /// Until when it is fresh.
  public let freshUntil: Duration
  /// How long before the moment of reading it was stored or confirmed; `nil` where it was stored ahead of the clock, so
  /// that its age is unknown (see `EntryAge`).
  public let age: Duration?
  /// How long after the moment of reading it stays fresh; zero or negative where it is stale, zero where its age is
  /// unknown.
  public let remainingFreshness: Duration

  /// Whether there is an entry; otherwise the value was not to be stored, and the facts are those of this moment, or the
  /// storage failed to keep it, and they are those that its entry would have.
  public let isStored: Bool
  /// Why the value may not be stored, in a few words; `nil` where it may.
  public let refusal: String?

  /// Whether the entry was stale when it was read.
  public var isStale: Bool { remainingFreshness <= .zero }

  /// Facts about an entry read (or written) at `now`.
  public init(
    key: String, storedAt: Duration, freshUntil: Duration, now: Duration, isStored: Bool = true, refusal: String? = nil
  ) {
    self.key = key
    self.isStored = isStored
    self.refusal = refusal
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    let age = EntryAge(storedAt: storedAt, freshUntil: freshUntil, now: now)
    self.age = age?.sinceStored
    self.remainingFreshness = age?.remainingFreshness ?? .zero
  }
}
