/// Everything about an entry besides its payload. An engine stores every field and returns it unchanged.
///
/// All times are absolute, so an entry keeps its expiry when it moves to another engine.
public struct EntryMetadata: Sendable, Hashable {
  /// When the entry was written or last confirmed by its origin.
  public var storedAt: Timestamp

  /// From this instant on the entry is stale: the core revalidates it, or serves it while the origin is down.
  public var freshUntil: Timestamp

  /// From this instant on, and never before, the entry is expired and an engine may drop it.
  public var retainUntil: Timestamp

  /// The media type of the payload, such as "application/json".
  public var contentType: String

  /// More facts by name, such as the origin's validator ("etag"). Names, values and their number are unlimited.
  public var attributes: [String: String]

  /// A checksum of the payload alone, so that metadata can be renewed without reading the payload. The core computes and
  /// checks it; an engine only stores it.
  public var payloadChecksum: UInt64

  /// A checksum of the key and all other fields, `payloadChecksum` among them. The core computes and checks it; an engine
  /// only stores it.
  ///
  /// It also serves as the entry's version: see `WriteBatch.Expectation`.
  public var checksum: UInt64

  /// The metadata of one entry; the core sets the checksums.
  public init(
    storedAt: Timestamp, freshUntil: Timestamp, retainUntil: Timestamp, contentType: String,
    attributes: [String: String] = [:], payloadChecksum: UInt64 = 0, checksum: UInt64 = 0
  ) {
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    self.retainUntil = retainUntil
    self.contentType = contentType
    self.attributes = attributes
    self.payloadChecksum = payloadChecksum
    self.checksum = checksum
  }

  /// The entry's state at `time`: fresh before `freshUntil`, expired from `retainUntil` on. An entry stored ahead of
  /// the clock is stale, because its age is unknown.
  public func state(at time: Timestamp) -> EntryState {
    if time >= retainUntil { return .expired }
    if storedAt.isAhead(of: time) { return .stale }
    return max(time, storedAt) < freshUntil ? .fresh : .stale
  }
}

/// The state of an entry at one moment.
public enum EntryState: String, Sendable, CaseIterable {
  /// Can be served without asking the origin.
  case fresh
  /// Needs revalidation; can be served if the origin is down.
  case stale
  /// No longer usable; an engine may drop it at any moment.
  case expired
}
