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
      throw json.failure("format version \(found) is newer than \(Self.format), the newest known here")
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
