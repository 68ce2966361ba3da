internal import CChecksum
package import EngineAPI

/// The two checksums of an entry, both XXH3 (64 bits): one of its payload, and one of its key and all other metadata with
/// the first among it. They change if any bit of the entry does. They do not protect against deliberate changes.
extension EntryMetadata {
  /// The checksum of a payload. Cost: about a thirtieth of a microsecond for each KiB.
  package static func computedPayloadChecksum(_ payload: Span<UInt8>) -> UInt64 {
    payload.withUnsafeBufferPointer { cchecksum_xxh3($0.baseAddress, $0.count, 0) }
  }

  /// The checksum of the entry under `key` with this metadata, whose `payloadChecksum` is set. It is the entry's version.
  package func computedChecksum(key: CacheKey) -> UInt64 { examined(key: key).checksum }

  /// Sets both checksums, of the entry under `key` with the bytes `payload`.
  package mutating func setChecksums(key: CacheKey, payload: Span<UInt8>) {
    payloadChecksum = Self.computedPayloadChecksum(payload)
    checksum = computedChecksum(key: key)
  }

  /// Whether the entry is intact, by its checksums.
  package func isIntact(key: CacheKey, payload: Span<UInt8>) -> Bool {
    computedChecksum(key: key) == checksum && Self.computedPayloadChecksum(payload) == payloadChecksum
  }

  /// Checks that the entry is intact, and returns whether that was without transforms.
  ///
  /// - Throws: `CacheError` with the code `damaged` if it is not.
  @discardableResult
  package func verify(key: CacheKey, payload: Span<UInt8>) throws(CacheError) -> Bool {
    let isPlain = try verifyMetadata(key: key)
    guard Self.computedPayloadChecksum(payload) == payloadChecksum else { throw Self.mismatch(key) }
    return isPlain
  }

  /// Checks the same of everything but the payload.
  @discardableResult
  package func verifyMetadata(key: CacheKey) throws(CacheError) -> Bool {
    let (computed, isPlain) = examined(key: key)
    guard computed == checksum else { throw Self.mismatch(key) }
    return isPlain
  }

  /// The checksum, and whether the entry is stored without transforms.
  private func examined(key: CacheKey) -> (checksum: UInt64, isPlain: Bool) {
    var isPlain = true
    var head: [UInt8] = []
    head.reserveCapacity(key.text.utf8.count + contentType.utf8.count + 48)
    head.append(text: key.text)
    for time in [storedAt, freshUntil, retainUntil] { head.append(littleEndian: time.milliseconds) }
    head.append(text: contentType)
    forEachAttribute { name, value in
      head.append(text: name)
      head.append(text: value)
      if name.elementsEqual(Self.transformsName.utf8) { isPlain = false }
    }
    head.append(littleEndian: payloadChecksum)
    return (Self.computedPayloadChecksum(head.span), isPlain)
  }

  private static func mismatch(_ key: CacheKey) -> CacheError {
    CacheError(
      .damaged,
      "entry \(key) is damaged: its checksum does not match (an entry is changed by export, an editor and import)",
      key: key.text)
  }
}

extension [UInt8] {
  /// Appends the length and the bytes, so that two different sequences of texts never look the same.
  fileprivate mutating func append(text: UnsafeRawBufferPointer) {
    append(littleEndian: UInt64(text.count))
    append(contentsOf: text)
  }

  fileprivate mutating func append(text: String) { text.utf8.span.withUnsafeBytes { append(text: $0) } }

  /// Appends the bytes, in one copy.
  mutating func append(utf8 text: String) {
    text.utf8.span.withUnsafeBufferPointer { append(contentsOf: $0) }
  }
}
