internal import Base
internal import CCachectlPlugin
internal import Platform
internal import StorageSPI

/// An entry that a library lends; every field is checked before use.
struct LibraryEntry {
  private let pointer: UnsafePointer<cachectl_entry>

  /// The entry at `pointer`.
  ///
  /// - Throws: `LibraryDefect` if there is none, or it is too small.
  init(_ pointer: UnsafeRawPointer?) throws(LibraryDefect) {
    guard let pointer = pointer?.assumingMemoryBound(to: cachectl_entry.self) else {
      throw LibraryDefect("gave NULL as an entry")
    }
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

  /// A copy of the entry, which must be the one under `key`.
  func copied(asRequestedBy key: CacheKey) throws(LibraryDefect) -> ReadEntry {
    let isRequested = key.text.utf8Span.span.withUnsafeBytes { hasKey($0) }
    guard isRequested else { throw LibraryDefect("gave another entry than the one it was asked for") }
    return ReadEntry(payload: Array(try payload()), metadata: try metadata())
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

/// Texts from a library, which may contain anything.
enum LibraryText {
  /// The longest text allowed in a table, in bytes.
  static let maximumLength = 4_096

  /// The most bytes that a library may lend at once.
  static let maximumByteCount = 1 << 40

  /// The text at `pointer` in a table or an issue.
  ///
  /// - Throws: `LibraryDefect` if there is none, or it is invalid UTF-8 or too long.
  static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(LibraryDefect) -> String {
    guard let pointer else { throw LibraryDefect("has no \(what)") }
    let length = strnlen(pointer, maximumLength + 1)
    guard length <= maximumLength else { throw LibraryDefect("has a \(what) of more than \(maximumLength) bytes") }
    return try text(UnsafeRawBufferPointer(start: pointer, count: length), what)
  }

  /// The text in `bytes`.
  ///
  /// - Throws: `LibraryDefect` if it is not valid UTF-8.
  static func text(_ bytes: UnsafeRawBufferPointer, _ what: String) throws(LibraryDefect) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw LibraryDefect("has a \(what) that is not UTF-8")
    }
    return text
  }

  /// The text at `pointer`, which must be a line for people: not empty, and without a final full stop.
  static func line(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(LibraryDefect) -> String {
    let text = try text(pointer, what)
    guard isLine(text), !text.hasSuffix(".") else {
      throw LibraryDefect("has a \(what) that is not one line without a final full stop")
    }
    return text
  }

  /// The texts in the NULL-terminated list at `pointer`; empty if there is no list.
  ///
  /// - Throws: `LibraryDefect` if there are more than `limit`, or one is not a valid text.
  static func list(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ what: String, limit: Int
  ) throws(LibraryDefect) -> [String] {
    guard var next = pointer else { return [] }
    var texts: [String] = []
    while let item = next.pointee {
      guard texts.count < limit else { throw LibraryDefect("has more than \(limit) times a \(what)") }
      texts.append(try text(item, what))
      next += 1
    }
    return texts
  }

  /// Whether `text` is one printable line: not empty, without control characters.
  static func isLine(_ text: String) -> Bool { !text.isEmpty && !text.unicodeScalars.contains(where: isUnseen) }

  /// Makes one clean line from `bytes` up to the first zero byte, or to their end. It replaces invalid UTF-8, turns
  /// control characters and line ends into spaces, and removes a final full stop.
  static func cleaned(_ bytes: UnsafeRawBufferPointer) -> String {
    cleaned(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
  }

  /// Makes one clean line from `text` in the same way.
  static func cleaned(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isSpace = scalar == " " || isUnseen(scalar)
      if !isSpace { line.append(scalar) } else if line.last != " ", !line.isEmpty { line.append(" ") }
    }
    while line.last == " " || line.last == "." { line.removeLast() }
    return String(line)
  }

  /// Whether `name` is in camel case.
  static func isCamelCase(_ name: String) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first) else { return false }
    return name.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }

  /// Whether `name` is in kebab case: lower-case letters, digits and single hyphens, the first a letter.
  static func isKebabCase(_ name: String) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first), !name.hasSuffix("-"), !name.holds("--") else {
      return false
    }
    return name.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// Whether a terminal would interpret `scalar` instead of showing it.
  private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension cachectl_bytes {
  /// The bytes, in place.
  ///
  /// - Throws: `LibraryDefect` if the pointer or the length is impossible.
  func checked(_ what: String) throws(LibraryDefect) -> UnsafeRawBufferPointer {
    guard (0...LibraryText.maximumByteCount).contains(length) else {
      throw LibraryDefect("gave a \(what) of \(UInt(bitPattern: length)) bytes")
    }
    guard data != nil || length == 0 else { throw LibraryDefect("gave a \(what) without its bytes") }
    return UnsafeRawBufferPointer(start: data, count: length)
  }
}

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

/// Memory for everything that a call lends to a library. It is all freed at once when the call is over.
struct LibraryArena: ~Copyable {
  private static let blockSize = 16_384
  private static let alignment = 16

  private var blocks: [UnsafeMutableRawPointer] = []
  private var rest = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// An array of `count` copies of `value`.
  mutating func array<Value: BitwiseCopyable>(of value: Value, count: Int) -> UnsafeMutableBufferPointer<Value> {
    let values = room(count * MemoryLayout<Value>.stride).bindMemory(to: Value.self)
    values.initialize(repeating: value)
    return values
  }

  /// A copy of `bytes`.
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> cachectl_bytes {
    guard !bytes.isEmpty else { return cachectl_bytes() }
    let room = room(bytes.count)
    room.copyMemory(from: bytes)
    return cachectl_bytes(
      data: UnsafeRawPointer(room.baseAddress)?.assumingMemoryBound(to: UInt8.self), length: bytes.count)
  }

  /// A copy of the bytes of `text`.
  mutating func copy(_ text: String) -> cachectl_bytes {
    var text = text
    return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }

  /// A zero-terminated copy of `text`.
  mutating func terminated(_ text: String) -> UnsafePointer<CChar>? {
    UnsafeRawPointer(copy(text + "\0").data)?.assumingMemoryBound(to: CChar.self)
  }

  private mutating func room(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let size = (byteCount + Self.alignment - 1) / Self.alignment * Self.alignment
    if size > Self.blockSize / 4 { return UnsafeMutableRawBufferPointer(rebasing: block(size)[..<byteCount]) }
    if size > rest.count { rest = block(Self.blockSize) }
    defer { rest = UnsafeMutableRawBufferPointer(rebasing: rest[size...]) }
    return UnsafeMutableRawBufferPointer(rebasing: rest[..<byteCount])
  }

  private mutating func block(_ size: Int) -> UnsafeMutableRawBufferPointer {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: Self.alignment)
    if let start = block.baseAddress { blocks.append(start) }
    return block
  }
}
