internal import EngineAPI

/// Storing the head of a response: its times become the entry's, the rest becomes attributes.
extension EntryMetadata {
  init(_ stored: StoredHead, contentType: String, attributes: [String: String]) {
    self.init(
      storedAt: Timestamp(stored.storedAt), freshUntil: Timestamp(stored.freshUntil),
      retainUntil: Timestamp(stored.retainUntil), contentType: contentType,
      attributes: attributes.merging(stored.ownAttributes) { $1 })
  }

  /// The head of the stored response, with the header fields `fields`.
  func storedHead(fields: HTTP.Fields) -> StoredHead {
    var stored = StoredHead(
      head: HTTP.ResponseHead(status: StoredHead.usualStatus, fields: fields), storedAt: storedAt.sinceEpoch,
      freshUntil: freshUntil.sinceEpoch, retainUntil: retainUntil.sinceEpoch)
    var isUsual = true
    forEachAttribute { name, _ in if name.first == AttributeName.firstByte { isUsual = false } }
    if isUsual { return stored }
    if let status = attribute(named: AttributeName.status).flatMap({ Int($0) }) { stored.head.status = status }
    if let age = attribute(named: AttributeName.initialAge).flatMap({ Int64($0) }) {
      stored.initialAge = .milliseconds(age)
    }
    stored.selector = selector
    return stored
  }

  /// The requests that can reuse the stored response.
  var selector: VariantSelector {
    attribute(named: AttributeName.selector).flatMap { VariantSelector(text: $0[...]) } ?? .always
  }

  /// The header fields that have attributes of their own.
  var cachingFields: HTTP.Fields {
    HTTP.Fields(
      StoredHead.cachingFields.compactMap { name in attribute(named: name).map { HTTP.Fields.Field(name, $0) } })
  }
}

extension StoredHead {
  /// The status of an entry that has no attribute for it.
  fileprivate static let usualStatus = 200

  /// The header fields that decide how a response can be used. A typed response keeps no others.
  static let cachingFields = [
    "age", "cache-control", "cdn-cache-control", "date", "etag", "expires", "last-modified", "vary",
  ]

  /// Those header fields, as attributes.
  var cachingAttributes: [String: String] {
    Dictionary(uniqueKeysWithValues: Self.cachingFields.compactMap { name in head.fields[name].map { (name, $0) } })
  }

  /// The attributes that are neither an entry time nor a header field, without usual values.
  fileprivate var ownAttributes: [String: String] {
    var attributes: [String: String] = [:]
    if head.status != Self.usualStatus { attributes[AttributeName.status] = String(head.status) }
    if initialAge != .zero { attributes[AttributeName.initialAge] = String(Timestamp(initialAge).milliseconds) }
    if selector != .always { attributes[AttributeName.selector] = selector.text }
    return attributes
  }
}

extension VariantSelector {
  /// The selector as text: the digest, then the field names.
  var text: String { ([digest] + names).joined(separator: " ") }

  /// Reads a selector from what `text` wrote; `nil` if there is none.
  init?(text: Substring) {
    let words = text.split(separator: " ").map(String.init)
    guard let digest = words.first else { return nil }
    self.init(names: Array(words.dropFirst()), digest: digest)
  }
}

/// Names of attributes that no header field can have.
enum AttributeName {
  /// The first byte of all these names.
  static let firstByte = UInt8(ascii: ":")
  static let status = ":status"
  static let initialAge = ":initial-age"
  static let selector = ":selector"
  /// In a signpost, the selectors of the responses for a URL.
  static let variants = ":variants"
  /// All of these.
  static let ofHead = [status, initialAge, selector, variants]
}

extension Timestamp {
  /// The time `duration` after 1970-01-01T00:00:00Z.
  init(_ duration: Duration) {
    self = Timestamp(milliseconds: 0).advanced(by: duration)
  }
}
