internal import FetchVocabulary

/// The part of a stored response that decides how it may be used. Points in time are durations since
/// 1970-01-01T00:00:00Z.
public struct StoredHead: Sendable, Hashable {
  /// The status and the header fields, updated by each confirmation.
  public var head: HTTPResponseHead
  /// When the response was received or last confirmed.
  public var storedAt: Duration
  /// Until when the response is fresh.
  public var freshUntil: Duration
  /// Until when the response is kept.
  public var retainUntil: Duration
  /// The age on arrival (RFC 9111, section 4.2.3: `corrected_initial_age`).
  public var initialAge: Duration
  /// Decides which requests the response answers, among those for its URL.
  public var selector: VariantSelector

  /// Creates a head; by default it was new on arrival and answers every request for its URL.
  public init(
    head: HTTPResponseHead, storedAt: Duration, freshUntil: Duration, retainUntil: Duration,
    initialAge: Duration = .zero, selector: VariantSelector = .always
  ) {
    self.head = head
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    self.retainUntil = retainUntil
    self.initialAge = initialAge
    self.selector = selector
  }

  /// The age at `now` (RFC 9111, section 4.2.3: `current_age`); `nil` if unknown, because `storedAt` is ahead of the
  /// clock.
  public func age(at now: Duration) -> Duration? {
    clockReading(at: now).map { initialAge + $0.sinceStored }
  }

  /// How long the response stays fresh after `now`: zero or negative if it is stale, `nil` if its age is unknown.
  package func remainingFreshness(at now: Duration) -> Duration? {
    clockReading(at: now)?.remainingFreshness
  }

  private func clockReading(at now: Duration) -> EntryAge? {
    EntryAge(storedAt: storedAt, freshUntil: freshUntil, now: now)
  }

  /// Whether the response has a validator, with which the origin can be asked if it still holds.
  public var hasValidator: Bool {
    head.fields.contains("etag") || head.fields.contains("last-modified")
  }
}
