public import EngineAPI

/// An entry on its way from one store to another, with everything known about it.
public struct ExportedEntry: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The entry's metadata, with the checksums from when it was stored.
  public let metadata: EntryMetadata
  /// The payload's bytes.
  public let payload: [UInt8]
  /// How the entry was used; `nil` if unknown.
  public var history: AccessHistory?
}

extension ExportedEntry {
  /// The entry that a scan with payloads has found, and its use.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is not intact.
  init(_ entry: ScannedEntry, _ history: AccessHistory) throws(CacheError) {
    let payload = entry.payload ?? []
    try entry.metadata.verify(key: entry.key, payload: payload.span)
    self.init(
      key: entry.key, metadata: entry.metadata, payload: payload, history: history == AccessHistory() ? nil : history)
  }
}

/// An entry as a line of JSON.
extension ExportedEntry {
  /// The version of the line format. Each line carries it, so that lines can be sorted, filtered and joined.
  public static let format = 1

  /// Appends the entry as one line of JSON with its line feed, and the payload last.
  ///
  /// A payload in UTF-8 is written as text, which JSON preserves exactly; any other in base64 (RFC 4648, section 4). One
  /// checksum is enough, that of the whole entry: it covers the checksum of the payload. Cost: linear.
  public func encode(to line: inout [UInt8]) {
    var json = JSONWriter()
    json.object { json in
      json.member("format", Self.format)
      json.member("key", key.text)
      json.member("storedAt", metadata.storedAt.text)
      json.member("freshUntil", metadata.freshUntil.text)
      json.member("retainUntil", metadata.retainUntil.text)
      json.member("contentType", metadata.contentType)
      json.name("attributes")
      json.attributes(metadata.attributes)
      // As a number it would not survive programs that take every number for a double.
      json.member("checksum", Hexadecimal.text(metadata.checksum))
      json.member("uses", history?.count)
      json.member("lastUsedAt", history?.lastUsedAt.text)
      if (try? UTF8Span(validating: payload.span)) != nil {
        json.name("payload")
        json.text(payload.span)
      } else {
        json.name("payloadBase64")
        json.text(Base64.encoded(payload).span)
      }
    }
    line += json.bytes
    line.append(0x0A)
  }

  /// The members that a line must have, for messages.
  private static let requiredMembers =
    "key, storedAt, freshUntil, retainUntil, and payload or payloadBase64"

  /// Decodes `line`, one line of an export with or without its line end.
  ///
  /// Members can be in any order. Repeated or unknown members are errors, and so is a missing key, time or payload,
  /// because an entry must arrive complete; so is a checksum that does not match. A line without a checksum, which editing
  /// a line requires, gets a new one.
  ///
  /// - Throws: `JSONReader.Failure`, for any invalid bytes.
  public static func decode(_ line: [UInt8]) throws(JSONReader.Failure) -> ExportedEntry {
    var key: CacheKey?
    var times: [String: Timestamp] = [:]
    var contentType = ""
    var attributes: [String: String] = [:]
    var checksum: UInt64?
    var uses: Int?
    var payload: [UInt8]?
    var json = JSONReader(line)
    try json.objectWithoutRepeats { json, name throws(JSONReader.Failure) in
      switch name {
      case "format":
        let format = try json.integer()
        guard format == Self.format else {
          throw json.failure("the line is of format \(format), and only \(Self.format) is known")
        }
      case "key": key = try json.exportedKey()
      case "storedAt", "freshUntil", "retainUntil", "lastUsedAt":
        let text = try json.string()
        guard let time = Timestamp(text: text) else {
          throw json.failure("'\(text.prefix(40))' is not a time like 2026-01-31T08:09:10.123Z")
        }
        times[name] = time
      case "contentType": contentType = try json.string()
      case "attributes":
        attributes = try json.attributes()
        if let name = EntryMetadata.nameOfBrokenHead(in: attributes) {
          throw json.failure("the attribute '\(name)' is not part of a header: it contains a line end")
        }
      case "checksum":
        checksum = Hexadecimal.number(try json.string().utf8, as: UInt64.self)
        guard checksum != nil else { throw json.failure("a checksum is 16 hexadecimal digits") }
      case "uses":
        let count = try json.integer()
        guard count >= 0 else { throw json.failure("a number of uses is not negative") }
        uses = count
      case "payload", "payloadBase64":
        guard payload == nil else { throw json.failure("the payload is there twice") }
        let bytes = try json.stringBytes()
        payload = name == "payload" ? bytes : Base64.decoded(bytes)
        guard payload != nil else { throw json.failure("the payload is not base 64") }
      default: throw json.failure("the member '\(name)' is not known")
      }
    }
    try json.end()
    func required<Value>(_ value: Value?, _ name: String) throws(JSONReader.Failure) -> Value {
      if let value { return value }
      throw json.failure("the member '\(name)' is missing: a line needs \(requiredMembers)")
    }
    func time(_ name: String) throws(JSONReader.Failure) -> Timestamp { try required(times[name], name) }
    let entryKey = try required(key, "key")
    var metadata = EntryMetadata(
      storedAt: try time("storedAt"), freshUntil: try time("freshUntil"), retainUntil: try time("retainUntil"),
      contentType: contentType, attributes: attributes)
    let bytes = try required(payload, "payload")
    metadata.setChecksums(key: entryKey, payload: bytes.span)
    guard checksum == nil || checksum == metadata.checksum else {
      throw json.failure("the checksum does not match: without its checksum, an edited line is taken as it is")
    }
    var history: AccessHistory?
    if uses != nil || times["lastUsedAt"] != nil {
      history = AccessHistory(
        lastUsedAt: try json.required(times["lastUsedAt"], "lastUsedAt"),
        count: Int64(try json.required(uses, "uses")))
    }
    return ExportedEntry(key: entryKey, metadata: metadata, payload: bytes, history: history)
  }
}

extension JSONReader {
  /// Reads the key of an entry that can be imported.
  fileprivate mutating func exportedKey() throws(Failure) -> CacheKey {
    let text = try string()
    let key: CacheKey
    do throws(CacheError) {
      key = try CacheKey(text)
    } catch {
      throw failure(error.message)
    }
    guard !key.isLease else {
      throw failure("the namespace \(Lease.namespace) is reserved for requests in progress, and cannot be imported")
    }
    return key
  }
}
