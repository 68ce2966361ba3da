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
    _ key: CacheKey, _ scanner: inout JSONScanner
  ) throws(PlistFormatError) -> EntryTable.Entry {
    var fields = PlistEntryFields()
    try scanner.object { scanner, name throws(PlistFormatError) in try fields.read(name, &scanner) }
    guard let entry = fields.entry else { throw scanner.problem("\(key) lacks a field, or has two payloads") }
    return entry
  }

  private mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(PlistFormatError) {
    switch name {
    case "storedAt", "freshUntil", "retainUntil": times[name] = try Self.time(&scanner)
    case "contentType": contentType = try scanner.text()
    case "attributes":
      try scanner.object { scanner, name throws(PlistFormatError) in attributes[name] = try scanner.text() }
    case "checksum": checksum = try Self.checksum(&scanner)
    case "payload": payloads.append(try scanner.string())
    case "payloadBase64": payloads.append(try Self.base64(&scanner))
    default: throw scanner.problem("\(PlistFormatError.quoted(name)) is unknown")
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

  private static func time(_ scanner: inout JSONScanner) throws(PlistFormatError) -> Timestamp {
    let text = try scanner.text()
    guard let time = Timestamp(text: text) else {
      throw scanner.problem("\(PlistFormatError.quoted(text)) is no time like 2026-01-31T08:09:10.123Z")
    }
    return time
  }

  private static func checksum(_ scanner: inout JSONScanner) throws(PlistFormatError) -> UInt64 {
    let text = try scanner.text()
    guard let value = Hexadecimal.number(text.utf8, as: UInt64.self) else {
      throw scanner.problem("\(PlistFormatError.quoted(text)) is no checksum of 16 hexadecimal digits")
    }
    return value
  }

  private static func base64(_ scanner: inout JSONScanner) throws(PlistFormatError) -> [UInt8] {
    guard let bytes = Base64.decoded(try scanner.string()) else {
      throw scanner.problem("the payload is not valid base64")
    }
    return bytes
  }
}
