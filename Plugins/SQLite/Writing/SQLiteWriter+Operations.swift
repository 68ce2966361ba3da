internal import CSQLite
internal import Platform
internal import StorageSPI

extension SQLiteWriter {
  /// Makes one change, inside a transaction.
  func apply(_ operation: WriteBatch.Operation) throws(CacheError) {
    switch operation {
    case .put(let key, let payload, let metadata):
      try put(key, payload, metadata)
      count(key, EntryTally.Slot(namespace: key.namespace, metadata), payloadBytes: payload.count)
    case .remove(let key): try remove(key)
    case .require(let key, let expectation):
      guard expectation.isMet(byChecksum: try storedChecksum(of: key)) else { throw .conflict(on: key) }
    }
  }

  /// Removes the entry under `key`, if there is one. With a checksum, it must be there and have this one.
  func remove(_ key: CacheKey, ifStill checksum: UInt64? = nil) throws(CacheError) {
    try key.text.withBytes { key throws(CacheError) in
      defer { removal.reset() }
      try removal.bind(key, at: 1)
      if let checksum { try removal.bind(Int64(bitPattern: checksum), at: 2) }
      replaced.pointee.count = 0
      _ = try removal.step()
    }
    if checksum != nil, replaced.pointee.count == 0 { throw .conflict(on: key) }
    discountReplaced(in: key)
  }

  /// Counts what the last statement stored, and stops counting what it replaced.
  private func count(_ key: CacheKey, _ slot: EntryTally.Slot, payloadBytes: Int) {
    let isNew = replaced.pointee.count == 0
    if !isNew, replacedSlot(in: key) == slot, replaced.pointee.payload_bytes == payloadBytes { return }
    discountReplaced(in: key)
    let row = isNew ? sqlite3_last_insert_rowid(connection.handle) : replaced.pointee.row
    tally.add(entries: 1, payloadBytes: payloadBytes, to: slot, row: row)
  }

  /// Stops counting what the last statement replaced or removed.
  private func discountReplaced(in key: CacheKey) {
    guard replaced.pointee.count > 0 else { return }
    tally.add(
      entries: -1, payloadBytes: -Int(replaced.pointee.payload_bytes), to: replacedSlot(in: key),
      row: replaced.pointee.row)
  }

  private func replacedSlot(in key: CacheKey) -> EntryTally.Slot {
    let bits = EntryTally.slotBits
    return EntryTally.Slot(
      namespace: key.namespace, freshSlot: replaced.pointee.fresh_until >> bits,
      retainSlot: replaced.pointee.retain_until >> bits)
  }

  /// The checksum of the entry under `key`; `nil` if there is none.
  func storedChecksum(of key: CacheKey) throws(CacheError) -> UInt64? {
    try key.text.withBytes { key throws(CacheError) in
      defer { checksum.reset() }
      try checksum.bind(key, at: 1)
      return try checksum.step() ? UInt64(bitPattern: checksum.integer(0)) : nil
    }
  }

  private func put(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(CacheError) {
    let attributes = metadata.attributes.isEmpty ? [] : SQLiteRow.encoded(metadata.attributes)
    defer { put.reset() }
    try put.bind(metadata.storedAt.milliseconds, at: 1)
    try put.bind(metadata.freshUntil.milliseconds, at: 2)
    try put.bind(metadata.retainUntil.milliseconds, at: 3)
    try put.bind(Int64(bitPattern: metadata.checksum), at: 6)
    try put.bind(Int64(payload.count), at: 7)
    try payload.span.withUnsafeBufferPointer { payload throws(CacheError) in
      try put.bind(payload, isText: Self.isText(payload), at: 8)
      try metadata.contentType.withBytes { contentType throws(CacheError) in
        try put.bind(contentType, at: 4)
        try attributes.span.withUnsafeBufferPointer { attributes throws(CacheError) in
          if !attributes.isEmpty { try put.bind(attributes, at: 5) }
          try execute(put, key)
        }
      }
    }
  }

  /// Runs the statement with the key and its namespace as its last parameters.
  private func execute(_ put: borrowing SQLiteStatement, _ key: CacheKey) throws(CacheError) {
    try key.text.withBytes { bytes throws(CacheError) in
      try put.bind(bytes, at: 9)
      try put.bind(UnsafeBufferPointer(rebasing: bytes[..<key.namespaceLength]), at: 10)
      replaced.pointee.count = 0
      _ = try put.step()
    }
  }

  /// Whether to store a payload as text: SQLite's functions for JSON and text take no blob. The bytes stay the same
  /// either way. A zero byte would end the text for those functions, so a payload with one is stored as a blob.
  private static func isText(_ payload: UnsafeBufferPointer<UInt8>) -> Bool {
    guard (try? UTF8Span(validating: payload.span)) != nil else { return false }
    guard let start = payload.baseAddress else { return true }
    return memchr(start, 0, payload.count) == nil
  }
}
