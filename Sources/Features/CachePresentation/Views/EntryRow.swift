/// An entry of a store, without its payload. Times are since 1970-01-01T00:00:00Z.
public struct EntryRow: Sendable, Hashable {
  /// The state of an entry.
  public enum State: String, Sendable, CaseIterable {
    /// It answers without the origin.
    case fresh
    /// It has to be revalidated, or stands in for an origin that fails.
    case stale
    /// It cannot be used any more.
    case expired

    /// The style of the state.
    var style: TextStyle {
      switch self {
      case .fresh: .green
      case .stale: .yellow
      case .expired: .red
      }
    }
  }

  /// The whole key.
  public let key: String
  /// The namespace.
  public let namespace: String
  /// The size of the payload, in bytes.
  public let bytes: Int
  /// When it was stored or last confirmed.
  public let storedAt: Duration
  /// The time until which it is fresh.
  public let freshUntil: Duration
  /// The time until which it is kept.
  public let retainUntil: Duration
  /// Its state.
  public let state: State
  /// The media type of the payload.
  public let contentType: String

  /// An entry without its payload.
  public init(
    key: String, namespace: String, bytes: Int, storedAt: Duration, freshUntil: Duration, retainUntil: Duration,
    state: State, contentType: String
  ) {
    self.key = key
    self.namespace = namespace
    self.bytes = bytes
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    self.retainUntil = retainUntil
    self.state = state
    self.contentType = contentType
  }

  /// The members of the entry's document, in order.
  var members: [JSONValue.Member] {
    [
      .init("key", .string(key)), .init("namespace", .string(namespace)), .init("bytes", .integer(bytes)),
      .init("storedAt", JSONValue(time: storedAt)), .init("freshUntil", JSONValue(time: freshUntil)),
      .init("retainUntil", JSONValue(time: retainUntil)), .init("state", .string(state.rawValue)),
      .init("contentType", .string(contentType)),
    ]
  }
}
