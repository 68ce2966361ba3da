internal import CacheBase
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// One entry of a store, with its payload.
struct EntryView: SingleRecordView {
  private let entry: StoredEntry
  private let use: AccessHistory?

  /// The view of `entry` and of how it was used; `nil` if uses are not recorded.
  init(_ entry: StoredEntry, use: AccessHistory?) {
    self.entry = entry
    self.use = use
  }

  private var metadata: EntryMetadata { entry.summary.metadata }
  private var now: Duration { entry.readAt.sinceEpoch }

  /// The document: the members of `ls`, "uses", "lastUsedAt", "attributes", and either "payload" (if it is UTF-8) or
  /// "payloadBase64".
  var json: JSONValue {
    let payload: JSONValue.Member =
      if let text { .init("payload", .string(text)) } else {
        .init("payloadBase64", .string(String(decoding: Base64.encoded(entry.payload), as: UTF8.self)))
      }
    return .object(
      entry.summary.members(at: entry.readAt) + [
        .init("uses", JSONValue(use.map { Int($0.count) })), .init("lastUsedAt", JSONValue(time: lastUsedAt)),
        .init("attributes", JSONValue(metadata.attributes)),
      ] + transforms + [payload])
  }

  /// The facts about the entry, one per line, then its payload, with JSON indented.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let key = entry.summary.key
    let facts: [(name: String, value: Table.Cell)] = [
      ("Key", .init(key.text, .bold)), ("Namespace", .init(key.namespace, .plain)),
      ("State", metadata.state(at: entry.readAt).cell),
      ("Stored", Details.past(metadata.storedAt.sinceEpoch, now: now)),
      ("Fresh until", Details.time(metadata.freshUntil.sinceEpoch, now: now)),
      ("Kept until", Details.time(metadata.retainUntil.sinceEpoch, now: now)),
      ("Type", .init(metadata.contentType, .plain)), ("Size", Details.bytes(entry.summary.payloadBytes)),
      ("Uses", .init(useText)),
    ]
    let written = entry.transforms.map { text in
      (name: "Stored by", value: Table.Cell("\(text), of \(ByteCountText.text(entry.payload.count))", .plain))
    }
    let attributes = metadata.attributes.sorted { $0.key < $1.key }
    let more = attributes.map { (name: $0.key, value: Table.Cell($0.value, .plain)) }
    return Details.text(facts + [written].compactMap(\.self) + more, on: screen) + "\n" + readablePayload
  }

  /// The transforms that the payload is stored with, if there are any; "bytes" is the size of the result.
  private var transforms: [JSONValue.Member] {
    entry.transforms.map { text in
      [
        .init("transforms", .array(text.split(separator: " ").map { .string(String($0)) })),
        .init("payloadBytes", .integer(entry.payload.count)),
      ]
    } ?? []
  }

  private var lastUsedAt: Duration? { use.flatMap { $0.count > 0 ? $0.lastUsedAt.sinceEpoch : nil } }

  private var useText: String? {
    guard let use else { return nil }
    guard let lastUsedAt else { return "never" }
    return "\(NumberText.text(Int(use.count))), the last \(RelativeTimeText.past(lastUsedAt, now: now))"
  }

  private var text: String? { String(validating: entry.payload, as: UTF8.self) }

  private var readablePayload: String {
    guard let text else { return "(not text: `show --raw` writes its bytes)\n" }
    if text.isEmpty { return "(empty)\n" }
    let isJSON = metadata.contentType.hasPrefix("application/json") || metadata.contentType.holds("+json")
    let laidOut = isJSON ? JSONIndent.indented(text) ?? text : text
    let safe = TerminalText.block(laidOut)
    return safe.utf8.last == UInt8(ascii: "\n") ? safe : safe + "\n"
  }
}
