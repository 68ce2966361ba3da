package import CCachectlPlugin
internal import Platform
package import StorageSPI

// What comes from the other side of the interface is checked before it is believed.

/// The cause of an error that says which rule of the interface the other side broke.
package struct InterfaceDefect: Error {}

extension CacheError {
  /// The error for a rule that the other side broke: what it did, as the rest of a sentence that starts with its name.
  package static func defect(_ text: String) -> CacheError { CacheError(.failed, text, cause: InterfaceDefect()) }

  /// The codes of the interface in the order of their numbers, from 1.
  package static let interfaceCodes: [Code] = [
    .failed, .invalidOption, .damaged, .unsupportedFormat, .cannotCreate, .permissionDenied, .noSpace, .ioFailed, .busy,
    .unreachable, .conflict, .tooLarge, .overBounds, .unsupported,
  ]
}

extension cachectl_bytes {
  /// The most bytes that one side believes to be lent at once.
  package static let maximumLength = 1 << 40

  /// Lends `bytes`.
  @inline(__always)
  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(data: bytes.baseAddress, length: bytes.count) }

  /// The bytes, in place.
  ///
  /// - Throws: `CacheError`: a defect if the pointer or the length is impossible.
  package func checked(_ what: String) throws(CacheError) -> UnsafeBufferPointer<UInt8> {
    guard (0...Self.maximumLength).contains(length) else {
      throw .defect("gave a \(what) of \(UInt(bitPattern: length)) bytes")
    }
    guard data != nil || length == 0 else { throw .defect("gave a \(what) without its bytes") }
    return UnsafeBufferPointer(start: data, count: length)
  }

  /// A copy as text.
  ///
  /// - Throws: `CacheError`: a defect if the bytes are impossible, or not UTF-8.
  package func text(_ what: String) throws(CacheError) -> String {
    guard let text = String(validating: try checked(what), as: UTF8.self) else {
      throw .defect("has a \(what) that is not UTF-8")
    }
    return text
  }
}

extension CacheKey {
  /// The key that the other side lends.
  ///
  /// - Throws: `CacheError`: a defect if it is not a valid key.
  package init(checking bytes: cachectl_bytes) throws(CacheError) {
    guard bytes.length <= Self.maximumLength else { throw .defect("gave a key of \(bytes.length) bytes") }
    let bytes = try bytes.checked("key")
    do throws(CacheError) {
      try self.init(bytes.span)
    } catch {
      throw .defect("gave an invalid key: \(TerminalText.line(String(decoding: bytes, as: UTF8.self)))")
    }
  }
}

extension Timestamp {
  /// A time that the other side gives.
  ///
  /// - Throws: `CacheError`: a defect if it is out of range.
  package init(checking milliseconds: Int64) throws(CacheError) {
    self.init(milliseconds: milliseconds)
    guard self.milliseconds == milliseconds else { throw .defect("gave the time \(milliseconds)") }
  }
}

extension EntryMetadata {
  /// The metadata of an entry that the other side lends. With the most common content type and no attributes it allocates
  /// nothing.
  ///
  /// - Throws: `CacheError`: a defect if any of it is impossible.
  package init(checking entry: cachectl_entry) throws(CacheError) {
    let type = try entry.content_type.checked("content type")
    let json: StaticString = "application/json"
    let isJSON =
      type.count == json.utf8CodeUnitCount && type.baseAddress.map { memcmp($0, json.utf8Start, type.count) } == 0
    self.init(
      storedAt: try Timestamp(checking: entry.stored_at), freshUntil: try Timestamp(checking: entry.fresh_until),
      retainUntil: try Timestamp(checking: entry.retain_until),
      contentType: isJSON ? "application/json" : try entry.content_type.text("content type"),
      payloadChecksum: entry.payload_checksum, checksum: entry.checksum)
    let count = entry.attribute_count
    if count == 0 { return }
    guard (1...cachectl_bytes.maximumLength >> 5).contains(count), let first = entry.attributes else {
      throw .defect("gave an entry without its \(UInt(bitPattern: count)) attributes")
    }
    for attribute in UnsafeBufferPointer(start: first, count: count) {
      let name = try attribute.name.text("name of an attribute")
      guard attributes.updateValue(try attribute.value.text("value of an attribute"), forKey: name) == nil else {
        throw .defect("gave an entry with two attributes of one name")
      }
    }
  }
}
