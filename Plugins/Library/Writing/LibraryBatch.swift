internal import CCachectlPlugin
internal import StorageSPI

/// A batch in the form that a library receives.
struct LibraryBatch: ~Copyable {
  private var arena = LibraryArena()
  private var batch: cachectl_batch

  /// Copies `batch`, including payloads: C needs pointers, and an array lends its own only inside a closure.
  init(_ source: WriteBatch) {
    batch = cachectl_batch()
    let operations = arena.array(of: cachectl_operation(), count: source.operations.count)
    for (index, operation) in source.operations.enumerated() {
      operations[index] = Self.operation(operation, &arena)
    }
    batch.size = MemoryLayout<cachectl_batch>.size
    batch.operations = UnsafePointer(operations.baseAddress)
    batch.operation_count = operations.count
    batch.operation_size = MemoryLayout<cachectl_operation>.stride
    if let bounds = source.bounds {
      batch.has_bounds = 1
      batch.max_entries = UInt64(clamping: bounds.maxEntries)
      batch.max_payload_bytes = UInt64(clamping: bounds.maxPayloadBytes)
      batch.exempt = arena.copy(bounds.exemptNamespace ?? "")
    }
  }

  /// Lends the batch to `body`.
  func withBatch(_ body: (UnsafePointer<cachectl_batch>) -> Int32) -> Int32 {
    withUnsafePointer(to: batch, body)
  }

  private static func operation(
    _ operation: WriteBatch.Operation, _ arena: inout LibraryArena
  ) -> cachectl_operation {
    var lent = cachectl_operation()
    lent.entry.size = MemoryLayout<cachectl_entry>.size
    switch operation {
    case .put(let key, let payload, let metadata):
      lent.kind = CACHECTL_PUT.rawValue
      lent.entry.key = arena.copy(key.text)
      lent.entry.payload = payload.withUnsafeBytes { arena.copy($0) }
      lent.entry.metadata = Self.metadata(metadata, &arena)
    case .remove(let key):
      lent.kind = CACHECTL_REMOVE.rawValue
      lent.entry.key = arena.copy(key.text)
    case .require(let key, .absent):
      lent.kind = CACHECTL_REQUIRE_ABSENT.rawValue
      lent.entry.key = arena.copy(key.text)
    case .require(let key, .checksum(let checksum)):
      lent.kind = CACHECTL_REQUIRE_CHECKSUM.rawValue
      lent.entry.key = arena.copy(key.text)
      lent.entry.metadata.checksum = checksum
    }
    return lent
  }

  private static func metadata(_ metadata: EntryMetadata, _ arena: inout LibraryArena) -> cachectl_metadata {
    let attributes = arena.array(of: cachectl_attribute(), count: metadata.attributes.count)
    // Sorted by name, so that a library that writes them in this order always writes the same bytes.
    for (index, attribute) in metadata.attributes.sorted(by: { $0.key < $1.key }).enumerated() {
      attributes[index] = cachectl_attribute(name: arena.copy(attribute.key), value: arena.copy(attribute.value))
    }
    return cachectl_metadata(
      stored_at: metadata.storedAt.milliseconds, fresh_until: metadata.freshUntil.milliseconds,
      retain_until: metadata.retainUntil.milliseconds, checksum: metadata.checksum,
      content_type: arena.copy(metadata.contentType), attributes: attributes.baseAddress,
      attribute_count: attributes.count)
  }
}
