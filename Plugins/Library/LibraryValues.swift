internal import CCachectlPlugin
internal import PluginInterface
internal import StorageSPI

// What a library gives, checked as far as it could do harm otherwise, and what it gets.

extension ScannedEntry {
  /// A copy of the entry as a scan finds it.
  init(checking entry: cachectl_entry, includesPayload: Bool) throws(CacheError) {
    let key = try CacheKey(checking: entry.key)
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
      key: issue.key.length == 0 ? nil : try CacheKey(checking: issue.key),
      kind: Kind(rawValue: try LibraryText.line(issue.kind, "kind of an issue")),
      message: try LibraryText.line(issue.message, "message of an issue"))
  }
}

extension StoreInspection {
  /// The most files of a store.
  static let maximumFiles = 1 << 20

  init(checking found: cachectl_inspection) throws(CacheError) {
    guard (0...Self.maximumFiles).contains(found.file_count), found.files != nil || found.file_count == 0 else {
      throw .defect("gave an invalid list of \(UInt(bitPattern: found.file_count)) files")
    }
    var files: [String] = []
    for file in UnsafeBufferPointer(start: found.files, count: found.file_count) {
      files.append(try Self.path(checking: file))
    }
    self.init(
      path: try LibraryText.line(try found.path.text("path"), "path"), exists: found.exists != 0, files: files,
      format: found.format < 0 ? nil : Int(found.format), currentFormat: Int(found.current_format),
      caution: found.caution.length == 0 ? nil : try LibraryText.line(try found.caution.text("caution"), "caution"))
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

extension Arena {
  /// A copy of `batch`, including payloads.
  func batch(_ batch: WriteBatch) -> UnsafePointer<cachectl_batch> {
    var lent = cachectl_batch()
    lent.operations = array(batch.operations.map(operation))
    lent.operation_count = batch.operations.count
    if let bounds = batch.bounds {
      lent.has_bounds = 1
      lent.max_entries = UInt64(clamping: bounds.maxEntries)
      lent.max_payload_bytes = UInt64(clamping: bounds.maxPayloadBytes)
      lent.exempt = bytes(bounds.exemptNamespace ?? "")
    }
    return array([lent])
  }

  private func operation(_ operation: WriteBatch.Operation) -> cachectl_operation {
    var lent = cachectl_operation()
    lent.entry.key = bytes(operation.key.text)
    let kind: cachectl_operation_kind
    switch operation {
    case .put(_, let payload, let metadata):
      kind = CACHECTL_PUT
      lent.entry = entry(lent.entry.key, cachectl_bytes(data: array(payload), length: payload.count), metadata)
    case .update(_, let metadata, let checksum):
      kind = CACHECTL_UPDATE
      lent.entry = entry(lent.entry.key, cachectl_bytes(), metadata)
      lent.expected = checksum
    case .remove: kind = CACHECTL_REMOVE
    case .require(_, .absent): kind = CACHECTL_REQUIRE_ABSENT
    case .require(_, .checksum(let checksum)):
      kind = CACHECTL_REQUIRE_CHECKSUM
      lent.expected = checksum
    }
    lent.kind = kind.rawValue
    return lent
  }
}
