/// What is known of an entry besides its payload. An engine stores every field and gives it back unchanged.
///
/// All times are absolute: an entry moved to another engine keeps its expiry.
public struct EntryMetadata: Sendable, Hashable {
  /// When the entry was written or last confirmed by its origin.
  public var storedAt: Timestamp

  /// From this instant on the entry is stale: to be revalidated, or served while the origin is away.
  public var freshUntil: Timestamp

  /// From this instant on the entry is expired, and an engine may drop it; never before.
  public var retainUntil: Timestamp

  /// The media type of the payload, such as "application/json".
  public var contentType: String

  /// Further facts by name, such as the origin's validator ("etag"). Names and values are any text, in any number.
  public var attributes: [String: String]

  /// A checksum of the key, the payload and the other fields, made and checked by the core; an engine only keeps it.
  ///
  /// It doubles as the version of an entry: see `WriteBatch.Expectation`.
  public var checksum: UInt64

  /// Metadata with the given fields.
  public init(
    storedAt: Timestamp, freshUntil: Timestamp, retainUntil: Timestamp, contentType: String,
    attributes: [String: String] = [:], checksum: UInt64 = 0
  ) {
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    self.retainUntil = retainUntil
    self.contentType = contentType
    self.attributes = attributes
    self.checksum = checksum
  }

  /// How the entry stands at `time`. An entry is fresh before `freshUntil` and expired from `retainUntil` on. One that
  /// was stored ahead of the clock is stale: its age is unknown.
  public func state(at time: Timestamp) -> EntryState {
    if time >= retainUntil { return .expired }
    if storedAt.isAhead(of: time) { return .stale }
    return max(time, storedAt) < freshUntil ? .fresh : .stale
  }
}

/// How an entry stands at some moment.
public enum EntryState: String, Sendable, CaseIterable {
  /// Answers without asking the origin.
  case fresh
  /// To be revalidated; may stand in while the origin is away.
  case stale
  /// No longer of use, and may be gone at any moment.
  case expired
}
