internal import EngineSupport
internal import StorageSPI

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
