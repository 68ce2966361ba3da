package import CCachectlPlugin
package import StorageSPI

/// Copies in memory that C can read. They are freed with the arena.
package final class Arena {
  private static let blockSize = 2_048
  private static let alignment = 16

  private var blocks: [UnsafeMutableRawPointer] = []
  /// The part of the last block that is not used yet.
  private var room = UnsafeMutableRawPointer.allocate(byteCount: blockSize, alignment: alignment)
  private var roomSize = blockSize

  /// An arena without copies.
  package init() { blocks = [room] }

  deinit { for block in blocks { block.deallocate() } }

  /// A copy of `values`, which must be structures of C or bytes.
  package func copy<Value>(of values: UnsafeBufferPointer<Value>) -> UnsafePointer<Value> {
    let size = (values.count * MemoryLayout<Value>.stride + Self.alignment - 1) & ~(Self.alignment - 1)
    if size > roomSize {
      roomSize = max(size, Self.blockSize)
      room = .allocate(byteCount: roomSize, alignment: Self.alignment)
      blocks.append(room)
    }
    let copy = room.bindMemory(to: Value.self, capacity: values.count)
    _ = UnsafeMutableBufferPointer(start: copy, count: values.count).initialize(from: values)
    room += size
    roomSize -= size
    return UnsafePointer(copy)
  }

  /// A copy of `values`, which must be structures of C or bytes.
  package func array<Value>(_ values: [Value]) -> UnsafePointer<Value> {
    values.withUnsafeBufferPointer { copy(of: $0) }
  }

  /// A copy of the bytes of `text`.
  package func bytes(_ text: String) -> cachectl_bytes {
    var text = text
    return text.withUTF8 { cachectl_bytes(data: copy(of: $0), length: $0.count) }
  }

  /// A zero-terminated copy of `text`.
  package func text(_ text: String) -> UnsafePointer<CChar> {
    text.withCString { copy(of: UnsafeBufferPointer(start: $0, count: text.utf8.count + 1)) }
  }

  /// Zero-terminated copies of `texts`, ended by NULL.
  package func list(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
    array(texts.map { text($0) } + [nil])
  }

  /// An entry whose key and payload are lent, and whose other fields are copied.
  package func entry(_ key: cachectl_bytes, _ payload: cachectl_bytes, _ metadata: EntryMetadata) -> cachectl_entry {
    // Sorted by name, so that an engine that writes them in this order always writes the same bytes.
    let attributes = attributes(metadata.attributes.sorted { $0.key < $1.key })
    return cachectl_entry(key, payload, metadata, bytes(metadata.contentType), attributes)
  }

  /// Copies of `attributes`.
  package func attributes(_ attributes: some Sequence<(key: String, value: String)>) -> UnsafePointer<
    cachectl_attribute
  > {
    array(attributes.map { cachectl_attribute(name: bytes($0.key), value: bytes($0.value)) })
  }
}

extension cachectl_entry {
  /// An entry whose fields are lent.
  package init(
    _ key: cachectl_bytes, _ payload: cachectl_bytes, _ metadata: EntryMetadata, _ contentType: cachectl_bytes,
    _ attributes: UnsafePointer<cachectl_attribute>?
  ) {
    self.init(
      key: key, payload: payload, stored_at: metadata.storedAt.milliseconds,
      fresh_until: metadata.freshUntil.milliseconds, retain_until: metadata.retainUntil.milliseconds,
      payload_checksum: metadata.payloadChecksum, checksum: metadata.checksum, content_type: contentType,
      attributes: attributes, attribute_count: metadata.attributes.count)
  }
}
