internal import EngineAPI

/// The file of a namespace: one field per line, entries ordered by key.
enum PlistFormat {
  typealias Failure = JSONReader.Failure

  static let version = 1
  /// The number of bytes in which a file says what it is.
  static let headSize = 4_096

  /// The file for the entries of `table` in `namespace`.
  static func encode(_ table: EntryTable, namespace: String) -> [UInt8] {
    var json = JSONWriter(layout: .pretty)
    json.object { json in
      json.member("format", version)
      json.member("namespace", namespace)
      json.name("entries")
      json.object { json in
        for (key, entry) in table.entries.sorted(by: { $0.key < $1.key }) {
          json.name(key.text)
          json.object { write(entry, to: &$0) }
        }
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  private static func write(_ entry: EntryTable.Entry, to json: inout JSONWriter) {
    let metadata = entry.metadata
    json.member("storedAt", metadata.storedAt.text)
    json.member("freshUntil", metadata.freshUntil.text)
    json.member("retainUntil", metadata.retainUntil.text)
    json.member("contentType", metadata.contentType)
    if !metadata.encodedAttributes.isEmpty {
      json.name("attributes")
      json.attributes(metadata.attributes)
    }
    json.member("payloadChecksum", Hexadecimal.text(metadata.payloadChecksum))
    json.member("checksum", Hexadecimal.text(metadata.checksum))
    if (try? UTF8Span(validating: entry.payload.span)) != nil {
      json.name("payload")
      json.text(entry.payload.span)
    } else {
      json.name("payloadBase64")
      json.text(Base64.encoded(entry.payload).span)
    }
  }

  /// The version of the format, if `bytes` begin as the file of a namespace does; `nil` if they begin in another way.
  static func version(ofHead bytes: [UInt8]) -> Int? {
    var json = JSONReader(bytes.span.extracting(first: headSize))
    guard json.skip(UInt8(ascii: "{")), (try? json.string()) == "format", json.skip(UInt8(ascii: ":")),
      let version = try? json.integer(), json.skip(UInt8(ascii: ",")), (try? json.string()) == "namespace"
    else { return nil }
    return version
  }

  /// The entries in `bytes`, the file of `namespace`.
  ///
  /// Rejects everything that differs in meaning from what `encode` writes. White space, member order and escapes can
  /// vary, so it accepts files that were edited by hand or by `jq`. The result depends only on the arguments, whatever the
  /// bytes. Cost: proportional to their number; nothing recurses.
  static func decode(_ bytes: [UInt8], namespace: String, path: String) throws(CacheError) -> EntryTable {
    if let found = version(ofHead: bytes), found > version { throw .laterFormat(path, found) }
    do throws(Failure) {
      var json = JSONReader(bytes)
      let entries = try entries(&json, of: namespace)
      try json.end()
      return EntryTable(entries)
    } catch {
      let place = SourcePlace(of: error.offset, in: bytes.span)
      throw .damagedFile(path, "line \(place.line), column \(place.column): \(error.message)")
    }
  }

  private static func entries(
    _ json: inout JSONReader, of namespace: String
  ) throws(Failure) -> [CacheKey: EntryTable.Entry] {
    var entries: [CacheKey: EntryTable.Entry] = [:]
    var missing = ["format", "namespace", "entries"]
    try json.objectWithoutRepeats { json, name throws(Failure) in
      missing.removeAll { $0 == name }
      switch name {
      case "format":
        let found = try json.integer()
        guard found == version else { throw json.failure("format version \(found) does not exist") }
      case "namespace":
        _ = try value(&json, "the namespace of the file") { $0 == namespace ? $0 : nil }
      case "entries":
        try json.objectWithoutRepeats { json, text throws(Failure) in
          guard let key = try? CacheKey(text), key.namespace == namespace else {
            throw json.failure("\(quoted(text)) is not a key of the namespace")
          }
          entries[key] = try entry(&json)
        }
      default: throw json.failure("\(quoted(name)) is unknown")
      }
    }
    if let name = missing.first { throw json.failure("'\(name)' is missing") }
    return entries
  }

  private static func entry(_ json: inout JSONReader) throws(Failure) -> EntryTable.Entry {
    let unknown = Timestamp.distantFuture
    var metadata = EntryMetadata(storedAt: unknown, freshUntil: unknown, retainUntil: unknown, contentType: "")
    var payload: [UInt8]?
    var fields = 0
    try json.objectWithoutRepeats { json, name throws(Failure) in
      if name != "attributes" { fields += 1 }
      switch name {
      case "storedAt": metadata.storedAt = try time(&json)
      case "freshUntil": metadata.freshUntil = try time(&json)
      case "retainUntil": metadata.retainUntil = try time(&json)
      case "contentType": metadata.contentType = try json.string()
      case "attributes": metadata.attributes = try json.attributes()
      case "payloadChecksum": metadata.payloadChecksum = try checksum(&json)
      case "checksum": metadata.checksum = try checksum(&json)
      case "payload" where payload == nil: payload = try json.stringBytes()
      case "payloadBase64" where payload == nil:
        payload = Base64.decoded(try json.stringBytes())
        if payload == nil { throw json.failure("the payload is not valid base64") }
      default: throw json.failure("\(quoted(name)) is unknown, or there are two payloads")
      }
    }
    // None can occur twice.
    guard fields == 7, let payload else { throw json.failure("an entry lacks a field") }
    return EntryTable.Entry(payload: payload, metadata: metadata)
  }

  private static func time(_ json: inout JSONReader) throws(Failure) -> Timestamp {
    try value(&json, "a time like 2026-01-31T08:09:10.123Z") { Timestamp(text: $0) }
  }

  private static func checksum(_ json: inout JSONReader) throws(Failure) -> UInt64 {
    try value(&json, "a checksum of 16 hexadecimal digits") { Hexadecimal.number($0.utf8) }
  }

  private static func value<Value>(
    _ json: inout JSONReader, _ noun: String, _ parse: (String) -> Value?
  ) throws(Failure) -> Value {
    let text = try json.string()
    guard let value = parse(text) else { throw json.failure("\(quoted(text)) is not \(noun)") }
    return value
  }

  private static func quoted(_ text: String) -> String { JSONString.quoted(String(text.prefix(60))) }
}

extension CacheError {
  /// The error for a file whose content this engine cannot have written.
  static func damagedFile(_ path: String, _ reason: String) -> CacheError {
    CacheError(.damaged, "\(path) is damaged: \(reason)")
  }

  /// The error for a file of the format version `version`, which is later than this one.
  static func laterFormat(_ path: String, _ version: Int) -> CacheError {
    CacheError(
      .unsupportedFormat,
      "\(path): format version \(version) is newer than \(PlistFormat.version), the newest known here",
      hint: "use a newer version of this program")
  }
}
