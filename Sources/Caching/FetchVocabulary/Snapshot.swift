// The error of every layer, without the rest of Base: the vocabulary is all that a domain imports.
@_exported public import struct CacheBase.CacheError
internal import Synchronization

/// A value at one moment, and its source.
public struct Snapshot<Value: Sendable>: Sendable {
  /// The source of a value.
  public enum Source: String, Sendable {
    /// The cache, even if the origin confirmed the entry.
    case cache
    /// The origin.
    case origin
  }

  /// The value.
  public var value: Value
  /// The cache or the origin.
  public var source: Source
  /// Whether the origin has just confirmed the cached value.
  public var isRevalidated: Bool
  /// The facts about the cache entry.
  public var entry: EntryFacts
  /// Failures that did not prevent the response.
  public var warnings: [CacheWarning]
  /// Those of the warnings that other callers see too, because they shared a request, and what chooses the caller that reports
  /// them.
  package var shared: [(warnings: [CacheWarning], report: SharedReport)] = []

  /// Creates a snapshot.
  public init(
    value: Value, source: Source, isRevalidated: Bool = false, entry: EntryFacts, warnings: [CacheWarning] = []
  ) {
    self.value = value
    self.source = source
    self.isRevalidated = isRevalidated
    self.entry = entry
    self.warnings = warnings
  }

  /// Why the cache did not keep the value; `nil` if it did, or was not meant to.
  public var writeFailure: CacheError? { entry.isStored ? nil : warnings.first { $0.phase != .fetching }?.error }
}

/// A failure that cost the caller nothing: it has its response all the same.
public struct CacheWarning: Sendable {
  /// The step that failed.
  public enum Phase: String, Sendable {
    /// The store, or the first of two locations, could not be opened, or the store was moved aside because of its damage.
    case opening
    /// An entry could not be read.
    case reading
    /// The origin did not respond, and a stale entry was served instead.
    case fetching
    /// An entry could not be stored, invalidated or removed.
    case storing
    /// The store was not closed in order, or one of its two stores was away (`tiered`).
    case closing
  }

  /// The step that failed.
  public let phase: Phase
  /// The key of the entry; `nil` if the failure concerns the whole store.
  public let key: String?
  /// The failure.
  public let error: CacheError

  /// Creates a warning.
  public init(_ phase: Phase, _ error: CacheError, key: String? = nil) {
    self.phase = phase
    self.key = key
    self.error = error
  }
}

/// Chooses one of several callers to report what concerns all of them.
package final class SharedReport: Sendable {
  private let isTaken = Atomic(false)

  package init() {}

  /// Whether the caller is the first one, and so reports.
  package func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

extension Snapshot {
  /// The warnings that are this caller's to report: its own, and the shared ones unless another caller has taken them.
  package func takeWarnings() -> [CacheWarning] {
    let reported = Set(shared.filter { !$0.report.take() }.flatMap(\.warnings).map(\.error.message))
    return reported.isEmpty ? warnings : warnings.filter { !reported.contains($0.error.message) }
  }
}

/// Facts about a cache entry. Points in time are durations since 1970-01-01T00:00:00Z.
public struct EntryFacts: Sendable, Hashable {
  /// The key of the entry.
  public let key: String
  /// When the entry was stored or last confirmed.
  public let storedSinceEpoch: Duration
  /// Until when the entry is fresh.
  public let freshUntilSinceEpoch: Duration
  /// The time since the entry was stored or confirmed; `nil` if unknown, because that is ahead of the clock (see
  /// `EntryAge`).
  public let age: Duration?
  /// How long the entry stays fresh after it was read; zero or negative if it is stale, zero if its age is unknown.
  public let remainingFreshness: Duration

  /// Whether there is an entry. If not, the value was not meant to be stored, and all times are now; or the storage
  /// failed, and these are the times that the entry would have.
  public package(set) var isStored: Bool
  /// Why the value must not be stored, in a few words; `nil` if it can. One that was changed meanwhile must not.
  public let refusal: String?

  /// Whether the entry was stale when it was read.
  public var isStale: Bool { remainingFreshness <= .zero }

  /// Creates the facts about an entry that was read or written at `now`.
  public init(
    key: String, storedAt: Duration, freshUntil: Duration, now: Duration, isStored: Bool = true, refusal: String? = nil
  ) {
    self.key = key
    self.isStored = isStored
    self.refusal = refusal
    self.storedSinceEpoch = storedAt
    self.freshUntilSinceEpoch = freshUntil
    let age = EntryAge(storedAt: storedAt, freshUntil: freshUntil, now: now)
    self.age = age?.sinceStored
    self.remainingFreshness = age?.remainingFreshness ?? .zero
  }
}

/// The times of a stored entry by the clock: how long ago it was stored, and how long it stays fresh.
///
/// Every decision that depends on an entry's age uses this type. Points in time are durations since
/// 1970-01-01T00:00:00Z.
public struct EntryAge: Sendable, Hashable {
  /// How far ahead of the clock an entry's time can be and still count as now. The clocks of machines that share a
  /// store differ by less.
  public static let tolerance = Duration.seconds(60)

  /// How long ago the entry was stored, never negative.
  public let sinceStored: Duration
  /// How long the entry stays fresh; zero or negative if it is stale.
  public let remainingFreshness: Duration

  /// Reads the age at `now` of an entry stored at `storedAt`. `nil` if that is more than `tolerance` ahead of the
  /// clock: the clock was set back, the age is unknown, and the entry is stale.
  public init?(storedAt: Duration, freshUntil: Duration, now: Duration) {
    guard storedAt <= now + Self.tolerance else { return nil }
    sinceStored = max(now - storedAt, .zero)
    // An entry stored slightly ahead of the clock stays fresh for its intended lifetime, not longer.
    remainingFreshness = freshUntil - max(now, storedAt)
  }
}

extension CacheError {
  /// Whether an entry cannot be read, because it is damaged, too large now or not sealed, or what it was written with is
  /// not here. Others can.
  package var isOfOneEntry: Bool {
    [.damaged, .wrongType, .tooLarge, .wrongKey, .notSealed, .unsupported, .invalidOption].contains(code)
  }
}
