internal import CacheDomain

/// Everything about a stored response that decides over its use. Points in time are durations since
/// 1970-01-01T00:00:00Z.
public struct StoredHead: Sendable, Hashable {
  /// The status and the header fields, brought up to date by each confirmation.
  public var head: HTTPResponseHead
  /// When it was received or last confirmed.
  public var storedAt: Duration
  /// Until when it is fresh.
  public var freshUntil: Duration
  /// Until when it is kept.
  public var retainUntil: Duration
  /// How old it was when it was received (RFC 9111, section 4.2.3: `corrected_initial_age`).
  public var initialAge: Duration
  /// What selects it among the responses to its URL.
  public var selector: VariantSelector

  /// A stored head with the given parts.
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

  /// Its age at `now` (RFC 9111, section 4.2.3: `current_age`); `nil` where it was stored ahead of the clock, so that its
  /// age is unknown.
  public func age(at now: Duration) -> Duration? {
    clockReading(at: now).map { initialAge + $0.sinceStored }
  }

  /// For how much longer it is fresh at `now`: zero or negative where it is stale, `nil` where its age is unknown.
  func remainingFreshness(at now: Duration) -> Duration? {
    clockReading(at: now)?.remainingFreshness
  }

  private func clockReading(at now: Duration) -> EntryAge? {
    EntryAge(storedAt: storedAt, freshUntil: freshUntil, now: now)
  }

  /// Whether the origin can be asked if it still holds.
  public var hasValidator: Bool {
    head.fields.contains("etag") || head.fields.contains("last-modified")
  }
}
