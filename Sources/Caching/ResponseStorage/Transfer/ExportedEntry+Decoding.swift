public import StorageSPI

extension ExportedEntry {
  /// Decodes `line`, one line of an export with or without its line end.
  ///
  /// Members may be in any order. Repeated or unknown members are errors, and so is a missing key, time or payload,
  /// because an entry must arrive complete; so is a checksum that does not match. A line without a checksum, which editing
  /// a line requires, gets a new one.
  ///
  /// - Throws: `JSONReader.Failure`, for any invalid bytes.
  public static func decode(_ line: [UInt8]) throws(JSONReader.Failure) -> ExportedEntry {
    var json = JSONReader(line)
    var members = ExportedMembers()
    try json.objectWithoutRepeats { json, name throws(JSONReader.Failure) in try members.read(name, &json) }
    try json.end()
    return try members.entry(json)
  }
}

/// The members of a line that have been read so far.
private struct ExportedMembers {
  private var key: CacheKey?
  private var storedAt: Timestamp?
  private var freshUntil: Timestamp?
  private var retainUntil: Timestamp?
  private var contentType = ""
  private var attributes: [String: String] = [:]
  private var checksum: UInt64?
  private var uses: Int?
  private var lastUsedAt: Timestamp?
  private var payload: [UInt8]?

  /// Reads the value of the member `name`.
  mutating func read(_ name: String, _ json: inout JSONReader) throws(JSONReader.Failure) {
    switch name {
    case ExportMember.format: try Self.readFormat(&json)
    case ExportMember.key: key = try Self.key(&json)
    case ExportMember.storedAt: storedAt = try Self.time(&json)
    case ExportMember.freshUntil: freshUntil = try Self.time(&json)
    case ExportMember.retainUntil: retainUntil = try Self.time(&json)
    case ExportMember.contentType: contentType = try json.string()
    case ExportMember.attributes: attributes = try Self.attributes(&json)
    case ExportMember.checksum: checksum = try Self.checksum(&json)
    case ExportMember.uses: uses = try Self.count(&json)
    case ExportMember.lastUsedAt: lastUsedAt = try Self.time(&json)
    case ExportMember.payload: try readPayload(try json.stringBytes(), json)
    case ExportMember.payloadBase64: try readPayload(try Self.base64(&json), json)
    default: throw json.failure("the member '\(name)' is not known")
    }
  }

  private mutating func readPayload(_ bytes: [UInt8], _ json: JSONReader) throws(JSONReader.Failure) {
    guard payload == nil else { throw json.failure("the payload is there twice") }
    payload = bytes
  }

  /// The entry, if no member is missing. `json` is the reader of the whole line.
  func entry(_ json: JSONReader) throws(JSONReader.Failure) -> ExportedEntry {
    let key = try json.required(key, ExportMember.key)
    var metadata = EntryMetadata(
      storedAt: try json.required(storedAt, ExportMember.storedAt),
      freshUntil: try json.required(freshUntil, ExportMember.freshUntil),
      retainUntil: try json.required(retainUntil, ExportMember.retainUntil),
      contentType: contentType, attributes: attributes)
    let payload = try json.required(payload, ExportMember.payload)
    metadata.checksum = metadata.computedChecksum(key: key, payload: payload.span)
    guard checksum == nil || checksum == metadata.checksum else {
      throw json.failure("the checksum does not match: without its checksum, an edited line is taken as it is")
    }
    return ExportedEntry(key: key, metadata: metadata, payload: payload, history: try history(json))
  }

  private func history(_ json: JSONReader) throws(JSONReader.Failure) -> AccessHistory? {
    guard uses != nil || lastUsedAt != nil else { return nil }
    return AccessHistory(
      lastUsedAt: try json.required(lastUsedAt, ExportMember.lastUsedAt),
      count: Int64(try json.required(uses, ExportMember.uses)))
  }
}

/// Reading the values of single members.
extension ExportedMembers {
  private static func readFormat(_ json: inout JSONReader) throws(JSONReader.Failure) {
    let format = try json.integer()
    guard format == ExportedEntry.format else {
      throw json.failure("the line is of format \(format), and only \(ExportedEntry.format) is known")
    }
  }

  private static func key(_ json: inout JSONReader) throws(JSONReader.Failure) -> CacheKey {
    let text = try json.string()
    do throws(CacheError) {
      let key = try CacheKey(text)
      if key.namespace != Lease.namespace { return key }
    } catch {
      throw json.failure(error.message)
    }
    throw json.failure("the namespace \(Lease.namespace) is for what goes on in a store, and does not travel")
  }

  private static func time(_ json: inout JSONReader) throws(JSONReader.Failure) -> Timestamp {
    let text = try json.string()
    guard let time = Timestamp(text: text) else {
      throw json.failure("'\(text.prefix(40))' is not a time like 2026-01-31T08:09:10.123Z")
    }
    return time
  }

  private static func attributes(_ json: inout JSONReader) throws(JSONReader.Failure) -> [String: String] {
    var attributes: [String: String] = [:]
    try json.objectWithoutRepeats { json, name throws(JSONReader.Failure) in attributes[name] = try json.string() }
    if let name = EntryMetadata.nameOfBrokenHead(in: attributes) {
      throw json.failure("the attribute '\(name)' is no part of a header: it has a line end in it")
    }
    return attributes
  }

  private static func checksum(_ json: inout JSONReader) throws(JSONReader.Failure) -> UInt64 {
    guard let checksum = Hexadecimal.number(try json.string().utf8, as: UInt64.self) else {
      throw json.failure("a checksum is 16 hexadecimal digits")
    }
    return checksum
  }

  private static func count(_ json: inout JSONReader) throws(JSONReader.Failure) -> Int {
    let count = try json.integer()
    guard count >= 0 else { throw json.failure("a number of uses is not negative") }
    return count
  }

  private static func base64(_ json: inout JSONReader) throws(JSONReader.Failure) -> [UInt8] {
    guard let bytes = Base64.decoded(try json.stringBytes()) else {
      throw json.failure("the payload is not base 64")
    }
    return bytes
  }
}
