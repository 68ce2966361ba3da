internal import EngineSupport
internal import StorageSPI

/// Decodes a namespace's file, and rejects everything that differs in meaning from what `PlistEncoder` writes. White
/// space, member order and escapes may vary, so it accepts files that were edited by hand or by `jq`.
struct PlistDecoder {
  /// The format version.
  static let format = 1

  private let namespace: String
  private var entries: [CacheKey: EntryTable.Entry] = [:]
  private var members: Set<String> = []
  /// The entry that is being read.
  private var key: CacheKey?
  /// Whether the file's format version is newer than this one.
  private var isNewer = false

  /// The entries in `bytes`, the content of the file of `namespace`.
  ///
  /// The result depends only on the arguments, whatever the bytes. Cost: proportional to their number; nothing
  /// recurses.
  static func decode(_ bytes: [UInt8], namespace: String) throws(PlistFormatError) -> EntryTable {
    var (decoder, json) = (PlistDecoder(namespace: namespace), JSONReader(bytes))
    do throws(JSONReader.Failure) {
      return try decoder.table(&json)
    } catch {
      throw decoder.error(error, in: bytes)
    }
  }

  private init(namespace: String) { self.namespace = namespace }

  private func error(_ failure: JSONReader.Failure, in bytes: [UInt8]) -> PlistFormatError {
    if isNewer { return PlistFormatError(kind: .newerFormat, message: failure.message) }
    let place = SourcePlace(of: failure.offset, in: bytes.span)
    return PlistFormatError(message: "line \(place.line), column \(place.column): \(failure.message)", key: key)
  }

  private mutating func table(_ json: inout JSONReader) throws(JSONReader.Failure) -> EntryTable {
    try json.objectWithoutRepeats { json, name throws(JSONReader.Failure) in try member(name, &json) }
    try json.end()
    for name in ["format", "namespace", "entries"] where !members.contains(name) {
      throw json.failure("'\(name)' is missing")
    }
    return EntryTable(entries)
  }

  private mutating func member(_ name: String, _ json: inout JSONReader) throws(JSONReader.Failure) {
    members.insert(name)
    switch name {
    case "format": try checkFormat(try json.integer(), json)
    case "namespace":
      let found = try json.string()
      guard found == namespace else {
        throw json.failure("the file is of the namespace \(PlistFormatError.quoted(found))")
      }
    case "entries":
      try json.objectWithoutRepeats { json, key throws(JSONReader.Failure) in try entry(key, &json) }
    default: throw json.failure("\(PlistFormatError.quoted(name)) is unknown")
    }
  }

  private mutating func checkFormat(_ found: Int, _ json: JSONReader) throws(JSONReader.Failure) {
    if found > Self.format {
      isNewer = true
      throw json.failure(PlistFormatError(laterFormat: found).message)
    }
    guard found == Self.format else { throw json.failure("there is no format version \(found)") }
  }

  private mutating func entry(_ text: String, _ json: inout JSONReader) throws(JSONReader.Failure) {
    guard let key = try? CacheKey(text) else { throw json.failure("\(PlistFormatError.quoted(text)) is no key") }
    self.key = key
    guard key.namespace == namespace else { throw json.failure("\(key) is of another namespace") }
    entries[key] = try PlistEntryFields.entry(key, &json)
    self.key = nil
  }
}

/// The fields of an entry that have been read so far.
struct PlistEntryFields {
  private var times: [String: Timestamp] = [:]
  private var contentType: String?
  private var attributes: [String: String] = [:]
  private var checksum: UInt64?
  private var payloads: [[UInt8]] = []

  /// Reads the JSON object of an entry whose key has just been read.
  static func entry(
    _ key: CacheKey, _ json: inout JSONReader
  ) throws(JSONReader.Failure) -> EntryTable.Entry {
    var fields = PlistEntryFields()
    try json.objectWithoutRepeats { json, name throws(JSONReader.Failure) in try fields.read(name, &json) }
    guard let entry = fields.entry else { throw json.failure("\(key) lacks a field, or has two payloads") }
    return entry
  }

  private mutating func read(_ name: String, _ json: inout JSONReader) throws(JSONReader.Failure) {
    switch name {
    case "storedAt", "freshUntil", "retainUntil": times[name] = try Self.time(&json)
    case "contentType": contentType = try json.string()
    case "attributes":
      try json.objectWithoutRepeats { json, name throws(JSONReader.Failure) in attributes[name] = try json.string() }
    case "checksum": checksum = try Self.checksum(&json)
    case "payload": payloads.append(try json.stringBytes())
    case "payloadBase64": payloads.append(try Self.base64(&json))
    default: throw json.failure("\(PlistFormatError.quoted(name)) is unknown")
    }
  }

  /// The entry, if all its fields have been read.
  private var entry: EntryTable.Entry? {
    guard let storedAt = times["storedAt"], let freshUntil = times["freshUntil"], let contentType,
      let retainUntil = times["retainUntil"], let checksum, let payload = payloads.first, payloads.count == 1
    else { return nil }
    let metadata = EntryMetadata(
      storedAt: storedAt, freshUntil: freshUntil, retainUntil: retainUntil, contentType: contentType,
      attributes: attributes, checksum: checksum)
    return EntryTable.Entry(payload: payload, metadata: metadata)
  }

  private static func time(_ json: inout JSONReader) throws(JSONReader.Failure) -> Timestamp {
    let text = try json.string()
    guard let time = Timestamp(text: text) else {
      throw json.failure("\(PlistFormatError.quoted(text)) is no time like 2026-01-31T08:09:10.123Z")
    }
    return time
  }

  private static func checksum(_ json: inout JSONReader) throws(JSONReader.Failure) -> UInt64 {
    let text = try json.string()
    guard let value = Hexadecimal.number(text.utf8, as: UInt64.self) else {
      throw json.failure("\(PlistFormatError.quoted(text)) is no checksum of 16 hexadecimal digits")
    }
    return value
  }

  private static func base64(_ json: inout JSONReader) throws(JSONReader.Failure) -> [UInt8] {
    guard let bytes = Base64.decoded(try json.stringBytes()) else {
      throw json.failure("the payload is not valid base64")
    }
    return bytes
  }
}

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
