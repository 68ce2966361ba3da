internal import FoundationEssentials
internal import StorageSPI

/// Reads the content of a namespace's file, and rejects whatever is not as `PlistEncoder` means it. White space, the
/// order of members and the choice of escapes are free, so that a file edited by hand or by `jq` is still read.
struct PlistDecoder {
  /// The version of the format.
  static let format = 1

  private let namespace: String
  private var entries: [CacheKey: EntryTable.Entry] = [:]
  private var members: Set<String> = []

  /// The entries in `bytes`, the content of the file of `namespace`.
  static func decode(_ bytes: [UInt8], namespace: String) throws(PlistFormatError) -> EntryTable {
    var decoder = PlistDecoder(namespace: namespace)
    var scanner = try JSONScanner(bytes)
    try scanner.object { scanner, name throws(PlistFormatError) in try decoder.member(name, &scanner) }
    try scanner.end()
    for name in ["format", "namespace", "entries"] where !decoder.members.contains(name) {
      throw scanner.problem("'\(name)' is missing")
    }
    return EntryTable(decoder.entries)
  }

  private init(namespace: String) { self.namespace = namespace }

  private mutating func member(_ name: String, _ scanner: inout JSONScanner) throws(PlistFormatError) {
    members.insert(name)
    switch name {
    case "format": try checkFormat(try scanner.number(), scanner)
    case "namespace":
      let found = try scanner.text()
      guard found == namespace else { throw scanner.problem("the file is of the namespace '\(found)'") }
    case "entries":
      try scanner.object { scanner, key throws(PlistFormatError) in try entry(key, &scanner) }
    default: throw scanner.problem("'\(name)' is unknown")
    }
  }

  private func checkFormat(_ found: Int, _ scanner: JSONScanner) throws(PlistFormatError) {
    if found > Self.format {
      throw PlistFormatError(
        kind: .newerFormat, message: "format version \(found) is newer than \(Self.format), the newest known here")
    }
    guard found == Self.format else { throw scanner.problem("there is no format version \(found)") }
  }

  private mutating func entry(_ text: String, _ scanner: inout JSONScanner) throws(PlistFormatError) {
    guard let key = try? CacheKey(text) else { throw scanner.problem("'\(text)' is no key") }
    do throws(PlistFormatError) {
      guard key.namespace == namespace else { throw scanner.problem("\(key) is of another namespace") }
      var fields = EntryFields()
      try scanner.object { scanner, name throws(PlistFormatError) in try fields.read(name, &scanner) }
      guard let entry = fields.entry else { throw scanner.problem("\(key) lacks a field, or has two payloads") }
      entries[key] = entry
    } catch {
      var error = error
      error.key = key
      throw error
    }
  }
}

/// The fields of an entry, as far as they have been read.
private struct EntryFields {
  private var times: [String: Timestamp] = [:]
  private var contentType: String?
  private var attributes: [String: String] = [:]
  private var checksum: UInt64?
  private var payloads: [[UInt8]] = []

  mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(PlistFormatError) {
    switch name {
    case "storedAt", "freshUntil", "retainUntil": times[name] = try Self.time(&scanner)
    case "contentType": contentType = try scanner.text()
    case "attributes":
      try scanner.object { scanner, name throws(PlistFormatError) in attributes[name] = try scanner.text() }
    case "checksum": checksum = try Self.checksum(&scanner)
    case "payload": payloads.append(try scanner.string())
    case "payloadBase64": payloads.append(try Self.base64(&scanner))
    default: throw scanner.problem("'\(name)' is unknown")
    }
  }

  /// The entry, once all of it is there.
  var entry: EntryTable.Entry? {
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
      throw scanner.problem("'\(text)' is no time like 2026-01-31T08:09:10.123Z")
    }
    return time
  }

  private static func checksum(_ scanner: inout JSONScanner) throws(PlistFormatError) -> UInt64 {
    let text = try scanner.text()
    guard text.utf8.count == 16, text.utf8.allSatisfy(\.isHexadecimalDigit), let value = UInt64(text, radix: 16) else {
      throw scanner.problem("'\(text)' is no checksum of 16 hexadecimal digits")
    }
    return value
  }

  private static func base64(_ scanner: inout JSONScanner) throws(PlistFormatError) -> [UInt8] {
    guard let data = Data(base64Encoded: Data(try scanner.string())) else {
      throw scanner.problem("the payload is not valid base64")
    }
    return Array(data)
  }
}
