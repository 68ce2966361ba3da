internal import CCachectlPlugin
internal import EngineExport
internal import EngineAPI

// What a library gives, checked as far as it could do harm otherwise, and what it gets.

extension ScannedEntry {
  /// A copy of the entry as a scan finds it.
  init(checking entry: cachectl_entry, includesPayload: Bool) throws(CacheError) {
    let key = try entry.key.key()
    let metadata = try EntryMetadata(checking: entry)
    var payload = entry.payload
    if includesPayload {
      self.init(key: key, metadata: metadata, payload: Array(try payload.checked("payload")))
    } else {
      // Only its length counts.
      payload.data = payload.data ?? UnsafePointer(bitPattern: 1)
      self.init(key: key, metadata: metadata, payloadBytes: try payload.checked("payload").count)
    }
  }
}

extension cachectl_bytes {
  /// The key that the library lends.
  ///
  /// - Throws: `CacheError`: a defect if it is not a valid key.
  fileprivate func key() throws(CacheError) -> CacheKey {
    let bytes = try checked("key")
    guard bytes.count <= 1 << 20 else { throw .defect("gave a key of \(length) bytes") }
    do throws(CacheError) {
      return try CacheKey(bytes.span)
    } catch {
      throw .defect("gave an invalid key: \(TerminalText.line(String(decoding: bytes, as: UTF8.self)))")
    }
  }
}

extension EntryCount {
  /// The count of a namespace, and its name. The numbers are so small that no sum of them overflows.
  static func named(checking count: cachectl_count) throws(CacheError) -> (String, EntryCount) {
    let namespace = try count.name_space.text("namespace")
    guard CacheKey.isNamespace(namespace), max(count.entries, count.payload_bytes) < 1 << 46 else {
      throw .defect(
        "counted \(count.entries) entries with \(count.payload_bytes) bytes in namespace \(namespace.debugDescription)")
    }
    let expiry = try Timestamp(checking: count.earliest_expiry)
    return (
      namespace,
      EntryCount(entries: Int(count.entries), payloadBytes: Int(count.payload_bytes), earliestExpiry: expiry)
    )
  }
}

extension IntegrityIssue {
  init(checking issue: cachectl_issue) throws(CacheError) {
    self.init(
      key: issue.key.length == 0 ? nil : try issue.key.key(),
      kind: Kind(rawValue: try LibraryText.line(issue.kind, "kind of an issue")),
      message: try LibraryText.line(issue.message, "message of an issue"))
  }
}

extension StoreInspection {
  /// The most files of a store.
  static let maximumFiles = 1 << 20

  init(checking found: cachectl_inspection, _ files: [String]) throws(CacheError) {
    self.init(
      path: try LibraryText.line(found.path, "path"), exists: found.exists != 0, files: files,
      format: found.format < 0 ? nil : Int(found.format), currentFormat: Int(found.current_format),
      caution: found.caution == nil ? nil : try LibraryText.line(found.caution, "caution"))
  }

  /// The absolute path `path`.
  static func path(checking path: cachectl_bytes) throws(CacheError) -> String {
    let path = try path.text("path of a file")
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw .defect("gave a path of a file that is not absolute")
    }
    return path
  }
}

/// Copies of bytes that a library can read. They are freed with this object.
final class LentBytes {
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  /// The part of the last block that is not used yet.
  private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit { for block in blocks { block.deallocate() } }

  func copy(_ bytes: UnsafeRawBufferPointer) -> cachectl_bytes {
    if bytes.count > room.count {
      room = .allocate(byteCount: max(bytes.count, 1 << 14), alignment: 1)
      blocks.append(room)
    }
    let copy = UnsafeMutableRawBufferPointer(rebasing: room[..<bytes.count])
    copy.copyMemory(from: bytes)
    room = UnsafeMutableRawBufferPointer(rebasing: room[bytes.count...])
    return cachectl_bytes(UnsafeBufferPointer(copy.bindMemory(to: UInt8.self)))
  }

  func copy(_ text: String) -> cachectl_bytes {
    var text = text
    return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }
}

extension WriteBatch {
  /// Lends a copy of the batch to `body`.
  func lend(_ body: (UnsafePointer<cachectl_batch>) throws(CacheError) -> Void) throws(CacheError) {
    let copies = LentBytes()
    defer { withExtendedLifetime(copies) {} }
    let lent = operations.map { cachectl_operation($0, in: copies) }
    try lent.withUnsafeBufferPointer { lent throws(CacheError) in
      var batch = cachectl_batch()
      batch.operations = lent.baseAddress
      batch.operation_count = lent.count
      if let bounds {
        batch.has_bounds = 1
        batch.max_entries = UInt64(clamping: bounds.maxEntries)
        batch.max_payload_bytes = UInt64(clamping: bounds.maxPayloadBytes)
        batch.exempt = copies.copy(bounds.exemptNamespace ?? "")
      }
      try body(&batch)
    }
  }
}

extension cachectl_operation {
  fileprivate init(_ operation: WriteBatch.Operation, in copies: LentBytes) {
    self.init()
    switch operation {
    case .put(_, let payload, let metadata):
      kind = CACHECTL_PUT.rawValue
      set(metadata, in: copies)
      entry.payload = payload.withUnsafeBytes(copies.copy)
    case .update(_, let metadata, let checksum):
      kind = CACHECTL_UPDATE.rawValue
      set(metadata, in: copies)
      expected = checksum
    case .remove: kind = CACHECTL_REMOVE.rawValue
    case .require(_, .absent): kind = CACHECTL_REQUIRE_ABSENT.rawValue
    case .require(_, .checksum(let checksum)):
      kind = CACHECTL_REQUIRE_CHECKSUM.rawValue
      expected = checksum
    }
    entry.key = copies.copy(operation.key.text)
  }

  private mutating func set(_ metadata: EntryMetadata, in copies: LentBytes) {
    entry = cachectl_entry(metadata)
    entry.content_type = copies.copy(metadata.contentType)
    entry.attributes = metadata.encodedAttributes(isSorted: true).withUnsafeBytes(copies.copy)
  }
}
