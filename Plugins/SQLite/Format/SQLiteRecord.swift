internal import StorageSPI

/// The values of a row or an index entry, in SQLite's record format.
struct SQLiteRecord {
  enum Value {
    case null
    case integer(Int64)
    case bytes(ArraySlice<UInt8>)
  }

  let values: [Value]

  /// Parses the record in `bytes`; `nil` if it is not a valid record.
  init?(_ bytes: [UInt8]) {
    let bytes = SQLiteBytes(bytes)
    var (offset, values) = (0, [Value]())
    guard let headerSize = bytes.variable(at: &offset), headerSize <= bytes.bytes.count else { return nil }
    var position = headerSize
    while offset < headerSize {
      guard let type = bytes.variable(at: &offset), let value = Self.value(type, bytes, &position) else { return nil }
      values.append(value)
    }
    self.values = values
  }

  private static func value(_ type: Int, _ bytes: SQLiteBytes, _ position: inout Int) -> Value? {
    switch type {
    case 0: return .null
    case 8, 9: return .integer(Int64(type - 8))
    case 1...6:
      let size = [1, 2, 3, 4, 6, 8][type - 1]
      defer { position += size }
      return bytes.signed(at: position, size).map { .integer($0) }
    case 12...:
      let size = (type - 12) / 2
      defer { position &+= size }
      return bytes.slice(at: position, size).map { .bytes($0) }
    // The store contains no floating-point numbers.
    default: return nil
    }
  }

  func integer(_ index: Int) -> Int64? {
    if index < values.count, case .integer(let integer) = values[index] { integer } else { nil }
  }

  func bytes(_ index: Int) -> ArraySlice<UInt8>? {
    if index < values.count, case .bytes(let bytes) = values[index] { bytes } else { nil }
  }

  func text(_ index: Int) -> String? {
    bytes(index).flatMap { String(validating: $0, as: UTF8.self) }
  }

  func key(_ index: Int) -> CacheKey? { text(index).flatMap { try? CacheKey($0) } }
}

/// An entry decoded from a row of the table `entries`.
struct SQLiteEntry {
  let key: CacheKey
  let payload: [UInt8]
  let metadata: EntryMetadata

  /// Decodes the entry in `record`; `nil` if it is not an entry. It ignores the columns `namespace` and
  /// `payload_bytes`, which only repeat what the key and the payload say.
  ///
  /// - Parameter key: the row's key from the index, if the key in the row is damaged.
  init?(_ record: SQLiteRecord, key: CacheKey? = nil) {
    guard record.values.count == 10, let key = key ?? record.key(0), let storedAt = record.integer(2),
      let freshUntil = record.integer(3), let retainUntil = record.integer(4), let contentType = record.text(5),
      let checksum = record.integer(7), let payload = record.bytes(9),
      let attributes = Self.attributes(record.values[6])
    else { return nil }
    self.key = key
    self.payload = Array(payload)
    metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: storedAt), freshUntil: Timestamp(milliseconds: freshUntil),
      retainUntil: Timestamp(milliseconds: retainUntil), contentType: contentType, attributes: attributes,
      checksum: UInt64(bitPattern: checksum))
  }

  private static func attributes(_ value: SQLiteRecord.Value) -> [String: String]? {
    switch value {
    case .null: [:]
    case .bytes(let json): SQLiteRow.attributes(json: Array(json))
    case .integer: nil
    }
  }
}
