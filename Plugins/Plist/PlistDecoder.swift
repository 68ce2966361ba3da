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

  /// The entries in `bytes`, the content of the file of `namespace`.
  ///
  /// The result depends only on the arguments, whatever the bytes. Cost: proportional to their number; nothing
  /// recurses.
  static func decode(_ bytes: [UInt8], namespace: String) throws(PlistFormatError) -> EntryTable {
    do throws(PlistFormatError) {
      try validate(bytes)
      var decoder = PlistDecoder(namespace: namespace)
      return try decoder.table(bytes)
    } catch {
      throw error.located(in: bytes)
    }
  }

  private static func validate(_ bytes: [UInt8]) throws(PlistFormatError) {
    do {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      throw PlistFormatError(message: "is not UTF-8", offset: error.byteOffsets.lowerBound)
    }
  }

  private mutating func table(_ bytes: [UInt8]) throws(PlistFormatError) -> EntryTable {
    var scanner = JSONScanner(bytes)
    try scanner.object { scanner, name throws(PlistFormatError) in try member(name, &scanner) }
    try scanner.end()
    for name in ["format", "namespace", "entries"] where !members.contains(name) {
      throw scanner.problem("'\(name)' is missing")
    }
    return EntryTable(entries)
  }

  private init(namespace: String) { self.namespace = namespace }

  private mutating func member(_ name: String, _ scanner: inout JSONScanner) throws(PlistFormatError) {
    members.insert(name)
    switch name {
    case "format": try checkFormat(try scanner.number(), scanner)
    case "namespace":
      let found = try scanner.text()
      guard found == namespace else {
        throw scanner.problem("the file is of the namespace \(PlistFormatError.quoted(found))")
      }
    case "entries":
      try scanner.object { scanner, key throws(PlistFormatError) in try entry(key, &scanner) }
    default: throw scanner.problem("\(PlistFormatError.quoted(name)) is unknown")
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
    guard let key = try? CacheKey(text) else { throw scanner.problem("\(PlistFormatError.quoted(text)) is no key") }
    do throws(PlistFormatError) {
      guard key.namespace == namespace else { throw scanner.problem("\(key) is of another namespace") }
      let entry = try PlistEntryFields.entry(key, &scanner)
      entries[key] = entry
    } catch {
      var error = error
      error.key = key
      throw error
    }
  }
}
