internal import Base

/// One entry of a store, with its payload.
public struct EntryView: SingleRecordView {
  private let entry: EntryRow
  private let use: Use
  private let attributes: [String: String]
  private let payload: [UInt8]
  private let now: Duration

  /// How an entry was used.
  public struct Use: Sendable, Hashable {
    /// How often it was read.
    public let count: Int
    /// When it was read last, since 1970-01-01T00:00:00Z; `nil` if it never was.
    public let lastUsedAt: Duration?

    /// The use of an entry; by default none.
    public init(count: Int = 0, lastUsedAt: Duration? = nil) {
      self.count = count
      self.lastUsedAt = lastUsedAt
    }
  }

  /// The view of `entry` with its use, attributes and payload, at the time `now` since 1970-01-01T00:00:00Z.
  public init(_ entry: EntryRow, use: Use, attributes: [String: String], payload: [UInt8], now: Duration) {
    self.entry = entry
    self.use = use
    self.attributes = attributes
    self.payload = payload
    self.now = now
  }

  /// The document: the members of `ls`, "uses", "lastUsedAt", "attributes", and either "payload" (if it is UTF-8) or
  /// "payloadBase64".
  public var json: JSONValue {
    let payload: JSONValue.Member =
      if let text { .init("payload", .string(text)) } else { .init("payloadBase64", .string(Base64Text.text(payload))) }
    let lastUsedAt = use.lastUsedAt.map { JSONValue(time: $0) } ?? .null
    return .object(
      entry.members + [
        .init("uses", .integer(use.count)), .init("lastUsedAt", lastUsedAt), .init("attributes", JSONValue(attributes)),
        payload,
      ])
  }

  /// The facts about the entry, one per line, then its payload, with JSON indented.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let facts: [(name: String, value: Table.Cell)] = [
      ("Key", .init(entry.key, .bold)), ("Namespace", .init(entry.namespace, .plain)),
      ("State", .init(entry.state.rawValue, entry.state.style)), ("Stored", Details.past(entry.storedAt, now: now)),
      ("Fresh until", Details.time(entry.freshUntil, now: now)),
      ("Kept until", Details.time(entry.retainUntil, now: now)), ("Type", .init(entry.contentType, .plain)),
      ("Size", Details.bytes(entry.bytes)), ("Uses", .init(useText, .plain)),
    ]
    let more = attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: Table.Cell($0.value, .plain)) }
    return Details.text(facts + more, on: screen) + "\n" + readablePayload
  }

  private var useText: String {
    guard let lastUsedAt = use.lastUsedAt else { return "never" }
    return "\(NumberText.text(use.count)), the last \(RelativeTimeText.past(lastUsedAt, now: now))"
  }

  private var text: String? { String(validating: payload, as: UTF8.self) }

  private var readablePayload: String {
    guard let text else { return "(not text: `show --raw` writes its bytes)\n" }
    if text.isEmpty { return "(empty)\n" }
    let isJSON = entry.contentType.hasPrefix("application/json") || entry.contentType.holds("+json")
    let laidOut = isJSON ? JSONIndent.indented(text) ?? text : text
    let safe = TerminalText.block(laidOut)
    return safe.utf8.last == UInt8(ascii: "\n") ? safe : safe + "\n"
  }
}
