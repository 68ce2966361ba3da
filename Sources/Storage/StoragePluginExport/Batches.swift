internal import CCachectlPlugin
internal import StorageSPI

extension WriteBatch {
  /// Copies the batch that the host passes.
  ///
  /// - Throws: `CacheError`: `unsupported` if an operation belongs to a later version of the interface, `invalidKey`.
  init(_ batch: cachectl_batch) throws(CacheError) {
    self.init()
    let start = UnsafeRawPointer(batch.operations)
    for index in 0..<batch.operation_count {
      // The host's operations may be longer than this version's.
      guard let operation = start?.advanced(by: index * batch.operation_size) else { break }
      try add(operation.assumingMemoryBound(to: cachectl_operation.self).pointee)
    }
    if batch.has_bounds != 0 {
      bounds = StoreBounds(
        maxEntries: Int(clamping: batch.max_entries), maxPayloadBytes: Int(clamping: batch.max_payload_bytes),
        exemptNamespace: batch.exempt.length == 0 ? nil : batch.exempt.text)
    }
  }

  private mutating func add(_ operation: cachectl_operation) throws(CacheError) {
    let (entry, key) = (operation.entry, try CacheKey(operation.entry.key.text))
    switch cachectl_operation_kind(operation.kind) {
    case CACHECTL_PUT: put(key, payload: Array(entry.payload.buffer), metadata: EntryMetadata(entry.metadata))
    case CACHECTL_REMOVE: remove(key)
    case CACHECTL_REQUIRE_ABSENT: require(key, .absent)
    case CACHECTL_REQUIRE_CHECKSUM: require(key, .checksum(entry.metadata.checksum))
    default: throw CacheError(.unsupported, "operations of kind \(operation.kind) are unknown to this version")
    }
  }
}

extension EntryMetadata {
  /// Copies the metadata that the host passes.
  init(_ metadata: cachectl_metadata) {
    let attributes = UnsafeBufferPointer(start: metadata.attributes, count: metadata.attribute_count)
    self.init(
      storedAt: Timestamp(milliseconds: metadata.stored_at), freshUntil: Timestamp(milliseconds: metadata.fresh_until),
      retainUntil: Timestamp(milliseconds: metadata.retain_until), contentType: metadata.content_type.text,
      attributes: Dictionary(attributes.map { ($0.name.text, $0.value.text) }) { _, last in last },
      checksum: metadata.checksum)
  }
}

extension KeyRange {
  /// Copies the range that the host passes.
  ///
  /// - Throws: `CacheError` with the code `invalidKey` if `after` is not a valid key.
  init(_ range: cachectl_range) throws(CacheError) {
    self.init(prefix: range.prefix.text)
    if range.after.length > 0 { after = try CacheKey(range.after.text) }
  }
}
