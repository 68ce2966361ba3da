internal import CChecksum
package import StorageSPI

extension EntryMetadata {
  /// The checksum of an entry: XXH3 (64 bits) of its key and metadata, then, with that as the seed, of its payload.
  ///
  /// It changes if any bit of the entry does. It does not protect against deliberate changes. Cost: about a thirtieth
  /// of a microsecond for each KiB of payload.
  package func computedChecksum(key: CacheKey, payload: Span<UInt8>) -> UInt64 {
    examined(key: key, payload: payload).checksum
  }

  /// The checksum, and whether the entry is stored as it is, without transforms.
  private func examined(key: CacheKey, payload: Span<UInt8>) -> (checksum: UInt64, isPlain: Bool) {
    var isPlain = true
    var head: [UInt8] = []
    head.reserveCapacity(key.text.utf8.count + contentType.utf8.count + 48)
    head.append(text: key.text)
    for time in [storedAt, freshUntil, retainUntil] { head.append(number: UInt64(bitPattern: time.milliseconds)) }
    head.append(text: contentType)
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      head.append(text: name)
      head.append(text: value)
      // Comparing the lengths first takes a single instruction, and looking up the name would take a hundred.
      if name.utf8.count == Self.transformsName.utf8.count, name == Self.transformsName { isPlain = false }
    }
    return (Self.xxh3(payload, seed: Self.xxh3(head.span, seed: 0)), isPlain)
  }

  static func xxh3(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
    bytes.withUnsafeBufferPointer { cchecksum_xxh3($0.baseAddress, $0.count, seed) }
  }
}

extension [UInt8] {
  /// Appends the length and the bytes, so that two different sequences of texts never look the same.
  fileprivate mutating func append(text: String) {
    append(number: UInt64(text.utf8.count))
    text.utf8.span.withUnsafeBufferPointer { append(contentsOf: $0) }
  }

  fileprivate mutating func append(number: UInt64) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}

extension EntryMetadata {
  /// Whether the entry is as it was written, by its checksum.
  func isSound(key: CacheKey, payload: Span<UInt8>) -> Bool {
    computedChecksum(key: key, payload: payload) == checksum
  }

  /// Checks that the entry is as it was written, and returns whether that was without transforms.
  ///
  /// - Throws: `CacheError` with the code `damaged` if it is not.
  @discardableResult
  func verify(key: CacheKey, payload: Span<UInt8>) throws(CacheError) -> Bool {
    let (computed, isPlain) = examined(key: key, payload: payload)
    guard computed == checksum else {
      throw CacheError(
        .damaged,
        "entry \(key) is damaged: its checksum does not match (an entry is changed by export, an editor and import)",
        key: key.text)
    }
    return isPlain
  }
}
