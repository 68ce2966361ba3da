internal import EngineSupport
internal import StorageSPI

/// Encodes a namespace's file: one field per line, entries ordered by key.
struct PlistEncoder {
  private var bytes: [UInt8] = []

  /// The file content for the entries of `table` in `namespace`.
  static func encode(_ table: EntryTable, namespace: String) -> [UInt8] {
    var encoder = PlistEncoder()
    encoder.bytes.reserveCapacity(
      table.entries.values.reduce(256) { $0 + $1.payload.count + $1.payload.count / 3 + 512 })
    encoder.append("{\n  \"format\": \(PlistDecoder.format),\n  \"namespace\": ")
    encoder.appendString(namespace)
    encoder.append(",\n  \"entries\": {")
    var separator = "\n    "
    for (key, entry) in table.entries.sorted(by: { $0.key < $1.key }) {
      encoder.append(separator)
      encoder.append(key, entry)
      separator = ",\n    "
    }
    encoder.append("\n  }\n}\n")
    return encoder.bytes
  }

  private mutating func append(_ key: CacheKey, _ entry: EntryTable.Entry) {
    appendString(key.text)
    append(": {")
    append(entry.metadata)
    if (try? UTF8Span(validating: entry.payload.span)) != nil {
      appendName("payload")
      appendString(entry.payload)
    } else {
      appendName("payloadBase64")
      append("\"")
      bytes.append(contentsOf: Base64.encoded(entry.payload))
      append("\"")
    }
    append("\n    }")
  }

  private mutating func append(_ metadata: EntryMetadata) {
    append("\n      \"storedAt\": \"\(metadata.storedAt.text)\"")
    appendName("freshUntil")
    append("\"\(metadata.freshUntil.text)\"")
    appendName("retainUntil")
    append("\"\(metadata.retainUntil.text)\"")
    appendName("contentType")
    appendString(metadata.contentType)
    append(metadata.attributes)
    appendName("checksum")
    append("\"\(Hexadecimal.text(metadata.checksum))\"")
  }

  private mutating func append(_ attributes: [String: String]) {
    guard !attributes.isEmpty else { return }
    appendName("attributes")
    var separator = "{\n        "
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      append(separator)
      appendString(name)
      append(": ")
      appendString(value)
      separator = ",\n        "
    }
    append("\n      }")
  }

  private mutating func appendName(_ name: String) { append(",\n      \"\(name)\": ") }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func appendString(_ text: String) { appendString(Array(text.utf8)) }

  private mutating func appendString(_ text: [UInt8]) { JSONString.append(text.span, to: &bytes) }
}
