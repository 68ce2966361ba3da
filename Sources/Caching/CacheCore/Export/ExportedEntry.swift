internal import FetchVocabulary
public import StorageSPI

/// An entry on its way from one store to another, with everything known about it.
public struct ExportedEntry: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The entry's metadata, with the checksums from when it was stored.
  public let metadata: EntryMetadata
  /// The payload's bytes.
  public let payload: [UInt8]
  /// How the entry was used; `nil` if unknown.
  public let history: AccessHistory?

  /// Creates an entry.
  public init(key: CacheKey, metadata: EntryMetadata, payload: [UInt8], history: AccessHistory? = nil) {
    self.key = key
    self.metadata = metadata
    self.payload = payload
    self.history = history
  }

  /// The entry that a scan with payloads has found, and its use.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is not as it was written.
  init(_ entry: ScannedEntry, _ history: AccessHistory) throws(CacheError) {
    let payload = entry.payload ?? []
    try entry.metadata.verify(key: entry.key, payload: payload.span)
    self.init(
      key: entry.key, metadata: entry.metadata, payload: payload, history: history == AccessHistory() ? nil : history)
  }
}

/// The members of an entry's line, in the order in which they are written.
private enum ExportMember: String {
  case format, key, storedAt, freshUntil, retainUntil, contentType, attributes, checksum, uses, lastUsedAt, payload
  case payloadBase64
}

extension ExportedEntry {
  /// The version of the line format. Each line carries it, so that lines can be sorted, filtered and joined.
  public static let format = 1

  /// Appends the entry as one line of JSON with its line feed, and the payload last.
  ///
  /// A payload in UTF-8 is written as text, which JSON preserves exactly; any other in base64 (RFC 4648, section 4). One
  /// checksum is enough, that of the whole entry: it covers the checksum of the payload. Cost: linear.
  public func encode(to line: inout [UInt8]) {
    line.reserveCapacity(line.count + payload.count + payload.count / 3 + 512)
    line.append(text: "{\"\(ExportMember.format)\":\(Self.format)")
    line.append(member: .key, key.text)
    line.append(member: .storedAt, metadata.storedAt.text)
    line.append(member: .freshUntil, metadata.freshUntil.text)
    line.append(member: .retainUntil, metadata.retainUntil.text)
    line.append(member: .contentType, metadata.contentType)
    appendAttributes(to: &line)
    // As a number it would not survive programs that take every number for a double.
    line.append(member: .checksum, Hexadecimal.text(metadata.checksum))
    if let history {
      line.append(text: ",\"\(ExportMember.uses)\":\(history.count)")
      line.append(member: .lastUsedAt, history.lastUsedAt.text)
    }
    appendPayload(to: &line)
    line.append(text: "}\n")
  }

  private func appendAttributes(to line: inout [UInt8]) {
    line.append(name: .attributes)
    var separator = "{"
    for (name, value) in metadata.attributes.sorted(by: { $0.key < $1.key }) {
      line.append(text: separator)
      JSONString.append(name, to: &line)
      line.append(text: ":")
      JSONString.append(value, to: &line)
      separator = ","
    }
    line.append(text: metadata.attributes.isEmpty ? "{}" : "}")
  }

  private func appendPayload(to line: inout [UInt8]) {
    if (try? UTF8Span(validating: payload.span)) != nil {
      line.append(name: .payload)
      JSONString.append(payload.span, to: &line)
    } else {
      line.append(name: .payloadBase64)
      line.append(text: "\"")
      line.append(contentsOf: Base64.encoded(payload))
      line.append(text: "\"")
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(text: String) { append(contentsOf: text.utf8) }

  fileprivate mutating func append(name: ExportMember) { append(text: ",\"\(name)\":") }

  fileprivate mutating func append(member name: ExportMember, _ value: String) {
    append(name: name)
    JSONString.append(value, to: &self)
  }
}

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
    switch ExportMember(rawValue: name) {
    case .format: try Self.readFormat(&json)
    case .key: key = try Self.key(&json)
    case .storedAt: storedAt = try Self.time(&json)
    case .freshUntil: freshUntil = try Self.time(&json)
    case .retainUntil: retainUntil = try Self.time(&json)
    case .contentType: contentType = try json.string()
    case .attributes: attributes = try Self.attributes(&json)
    case .checksum: checksum = try Self.checksum(&json)
    case .uses: uses = try Self.count(&json)
    case .lastUsedAt: lastUsedAt = try Self.time(&json)
    case .payload: try readPayload(try json.stringBytes(), json)
    case .payloadBase64: try readPayload(try Self.base64(&json), json)
    case nil: throw json.failure("the member '\(name)' is not known")
    }
  }

  private mutating func readPayload(_ bytes: [UInt8], _ json: JSONReader) throws(JSONReader.Failure) {
    guard payload == nil else { throw json.failure("the payload is there twice") }
    payload = bytes
  }

  /// The entry, if no member is missing. `json` is the reader of the whole line.
  func entry(_ json: JSONReader) throws(JSONReader.Failure) -> ExportedEntry {
    let key = try json.required(key, "key")
    var metadata = EntryMetadata(
      storedAt: try json.required(storedAt, "storedAt"),
      freshUntil: try json.required(freshUntil, "freshUntil"),
      retainUntil: try json.required(retainUntil, "retainUntil"),
      contentType: contentType, attributes: attributes)
    let payload = try json.required(payload, "payload")
    metadata.setChecksums(key: key, payload: payload.span)
    guard checksum == nil || checksum == metadata.checksum else {
      throw json.failure("the checksum does not match: without its checksum, an edited line is taken as it is")
    }
    return ExportedEntry(key: key, metadata: metadata, payload: payload, history: try history(json))
  }

  private func history(_ json: JSONReader) throws(JSONReader.Failure) -> AccessHistory? {
    guard uses != nil || lastUsedAt != nil else { return nil }
    return AccessHistory(
      lastUsedAt: try json.required(lastUsedAt, "lastUsedAt"),
      count: Int64(try json.required(uses, "uses")))
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
    throw json.failure("the namespace \(Lease.namespace) is reserved for requests in progress, and cannot be imported")
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
