internal import CCachectlPlugin
internal import Platform
internal import StorageSPI

/// An entry that a library lends; every field is checked before use.
struct LibraryEntry {
  private let pointer: UnsafePointer<cachectl_entry>

  /// The entry at `pointer`.
  ///
  /// - Throws: `LibraryDefect` if there is none, or it is smaller than in the first version of the interface.
  init(_ pointer: UnsafePointer<cachectl_entry>?) throws(LibraryDefect) {
    guard let pointer else { throw LibraryDefect("gave NULL as an entry") }
    guard pointer.pointee.size >= MemoryLayout<cachectl_entry>.size else {
      throw LibraryDefect("gave an entry of \(pointer.pointee.size) bytes, which is too small")
    }
    self.pointer = pointer
  }

  /// Whether the entry has the key `key`. If the library lends back the bytes that it was given, no comparison is
  /// needed.
  func hasKey(_ key: UnsafeRawBufferPointer) -> Bool {
    let own = pointer.pointee.key
    guard own.length == key.count, let data = own.data, let asked = key.baseAddress else { return false }
    return UnsafeRawPointer(data) == asked || memcmp(data, asked, key.count) == 0
  }

  /// The key.
  func key() throws(LibraryDefect) -> CacheKey { try CacheKey(lent: pointer.pointee.key) }

  /// The payload, in place.
  func payload() throws(LibraryDefect) -> UnsafeRawBufferPointer { try pointer.pointee.payload.checked("payload") }

  /// The size of the payload, in bytes; the payload itself may be missing.
  func payloadSize() throws(LibraryDefect) -> Int {
    let size = pointer.pointee.payload.length
    guard (0...LibraryText.maximumByteCount).contains(size) else {
      throw LibraryDefect("gave a payload of \(UInt(bitPattern: size)) bytes")
    }
    return size
  }

  /// The metadata. With a known content type and no attributes it allocates nothing.
  func metadata() throws(LibraryDefect) -> EntryMetadata {
    EntryMetadata(
      storedAt: try time(pointer.pointee.metadata.stored_at),
      freshUntil: try time(pointer.pointee.metadata.fresh_until),
      retainUntil: try time(pointer.pointee.metadata.retain_until), contentType: try contentType(),
      attributes: pointer.pointee.metadata.attribute_count == 0 ? [:] : try attributes(),
      checksum: pointer.pointee.metadata.checksum)
  }

  private func time(_ milliseconds: Int64) throws(LibraryDefect) -> Timestamp {
    let time = Timestamp(milliseconds: milliseconds)
    guard time.milliseconds == milliseconds else { throw LibraryDefect("gave the time \(milliseconds)") }
    return time
  }

  private func contentType() throws(LibraryDefect) -> String {
    let bytes = try pointer.pointee.metadata.content_type.checked("content type")
    if let known = LibraryContentType.known(bytes) { return known }
    return try LibraryText.text(bytes, "content type")
  }

  private func attributes() throws(LibraryDefect) -> [String: String] {
    let count = pointer.pointee.metadata.attribute_count
    guard (0...LibraryText.maximumByteCount / MemoryLayout<cachectl_attribute>.stride).contains(count) else {
      throw LibraryDefect("gave an entry with \(UInt(bitPattern: count)) attributes")
    }
    guard let first = pointer.pointee.metadata.attributes else {
      throw LibraryDefect("gave an entry without its \(count) attributes")
    }
    var attributes: [String: String] = [:]
    for attribute in UnsafeBufferPointer(start: first, count: count) {
      let name = try LibraryText.text(try attribute.name.checked("name of an attribute"), "name of an attribute")
      let value = try LibraryText.text(try attribute.value.checked("attribute"), "value of an attribute")
      guard attributes.updateValue(value, forKey: name) == nil else {
        throw LibraryDefect("gave an entry with two attributes of one name")
      }
    }
    return attributes
  }
}

extension CacheKey {
  /// The key that a library lends.
  ///
  /// - Throws: `LibraryDefect` if it is not a valid key.
  init(lent bytes: cachectl_bytes) throws(LibraryDefect) {
    guard bytes.length <= Self.maximumLength else { throw LibraryDefect("gave a key of \(bytes.length) bytes") }
    let text = try LibraryText.text(try bytes.checked("key"), "key")
    do throws(CacheError) {
      try self.init(text)
    } catch {
      throw LibraryDefect("gave a key that is none: \(LibraryText.cleaned(text))")
    }
  }
}

/// The most common content types that are too long for a `String` without an allocation.
enum LibraryContentType {
  /// The content type in `bytes`, if it is one of these: a literal, which costs no allocation.
  static func known(_ bytes: UnsafeRawBufferPointer) -> String? {
    switch bytes.count {
    case 16: match(bytes, "application/json")
    case 24: match(bytes, "application/octet-stream") ?? match(bytes, "text/html; charset=utf-8")
    case 25: match(bytes, "text/plain; charset=utf-8")
    case 30: match(bytes, "application/json;charset=utf-8")
    case 31: match(bytes, "application/json; charset=utf-8")
    default: nil
    }
  }

  @inline(__always)
  private static func match(_ bytes: UnsafeRawBufferPointer, _ text: String) -> String? {
    guard let start = bytes.baseAddress else { return nil }
    let isEqual = text.utf8.withContiguousStorageIfAvailable { literal in
      literal.baseAddress.map { memcmp($0, start, bytes.count) == 0 }
    }
    return isEqual == .some(true) ? text : nil
  }
}
