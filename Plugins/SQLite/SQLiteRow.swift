internal import Platform
internal import StorageSPI

/// Reads the columns that start every query of `SQLiteSchema`.
///
/// It remembers the last content type and attributes, so that a run of entries that have the same allocates no text for
/// them. The usual types are literals, which are not even reference-counted.
struct SQLiteRow {
  /// The index of the first column after the common ones.
  static let firstOwnColumn: Int32 = 7

  private var contentType = "application/json"
  /// The last attributes, and the JSON that they were read from.
  private var latest: (json: [UInt8], attributes: [String: String])?

  /// The metadata in the current row of `statement`.
  ///
  /// - Parameter key: the entry's key, for error messages.
  mutating func metadata(
    of statement: borrowing SQLiteStatement, key: @autoclosure () -> String
  ) throws(CacheError) -> EntryMetadata {
    guard rememberContentType(statement), let attributes = attributes(of: statement) else {
      throw .undecodable("its metadata cannot be decoded", key: key(), path: statement.connection.path)
    }
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: statement.integer(0)),
      freshUntil: Timestamp(milliseconds: statement.integer(1)),
      retainUntil: Timestamp(milliseconds: statement.integer(2)),
      contentType: contentType, attributes: attributes, checksum: UInt64(bitPattern: statement.integer(5)))
  }

  /// The size that the payload had when it was written.
  static func payloadBytes(of statement: borrowing SQLiteStatement) -> Int { Int(statement.integer(6)) }

  /// The payload in the first column after the common ones, in SQLite's memory.
  static func payload(
    of statement: borrowing SQLiteStatement, key: @autoclosure () -> String
  ) throws(CacheError) -> UnsafeBufferPointer<UInt8> {
    let payload = statement.bytes(firstOwnColumn)
    guard payload.count == payloadBytes(of: statement) else {
      throw .undecodable("its payload is not as long as it was", key: key(), path: statement.connection.path)
    }
    return payload
  }

  private mutating func rememberContentType(_ statement: borrowing SQLiteStatement) -> Bool {
    let bytes = statement.bytes(3)
    if contentType.withBytes({ Self.areEqual($0, bytes) }) { return true }
    if let usual = Self.usualTypes.first(where: { $0.withBytes { Self.areEqual($0, bytes) } }) {
      contentType = usual
      return true
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    contentType = text
    return true
  }

  private static let usualTypes = [
    "application/json", "image/jpeg", "image/png", "image/webp", "text/plain", "application/octet-stream",
    "application/json; charset=utf-8", "application/json;charset=utf-8",
  ]

  private static func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count, let left = left.baseAddress, let start = right.baseAddress else {
      return left.isEmpty && right.isEmpty
    }
    return memcmp(left, start, right.count) == 0
  }

  /// The attributes; `nil` if they are not a JSON object of strings.
  private mutating func attributes(of statement: borrowing SQLiteStatement) -> [String: String]? {
    if statement.isNull(4) { return [:] }
    let bytes = statement.bytes(4)
    if let latest, latest.json.withUnsafeBufferPointer({ Self.areEqual($0, bytes) }) { return latest.attributes }
    let json = Array(bytes)
    var reader = JSONReader(json)
    var attributes: [String: String] = [:]
    do throws(JSONReader.Failure) {
      try reader.object { reader, name throws(JSONReader.Failure) in attributes[name] = try reader.string() }
      try reader.end()
    } catch {
      return nil
    }
    latest = (json, attributes)
    return attributes
  }

  /// `attributes` as a JSON object, ordered by name.
  static func encoded(_ attributes: [String: String]) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { json.member(name, value) }
    }
    return json.bytes
  }
}
