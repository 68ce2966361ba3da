internal import CCachectlPlugin
internal import Platform
internal import StorageSPI

/// An entry that a library lends; every field is checked before use.
struct LibraryEntry {
  private let pointer: UnsafePointer<cachectl_entry>

  /// The entry at `pointer`.
  init(_ pointer: UnsafeRawPointer) { self.pointer = pointer.assumingMemoryBound(to: cachectl_entry.self) }

  /// Whether the entry has the key `key`. If the library lends back the bytes that it was given, no comparison is
  /// needed.
  func hasKey(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
    let own = pointer.pointee.key
    guard own.length == key.count, let data = own.data, let requested = key.baseAddress else { return false }
    return data == requested || memcmp(data, requested, key.count) == 0
  }

  /// A copy of the entry as a scan finds it.
  func scanned(withPayload includesPayload: Bool) throws(LibraryDefect) -> ScannedEntry {
    let key = try CacheKey(lent: pointer.pointee.key)
    if includesPayload { return ScannedEntry(key: key, metadata: try metadata(), payload: Array(try payload())) }
    let size = pointer.pointee.payload.length
    guard (0...LibraryText.maximumByteCount).contains(size) else {
      throw LibraryDefect("gave a payload of \(UInt(bitPattern: size)) bytes")
    }
    return ScannedEntry(key: key, metadata: try metadata(), payloadBytes: size)
  }

  /// The payload, in place.
  func payload() throws(LibraryDefect) -> UnsafeBufferPointer<UInt8> { try pointer.pointee.payload.checked("payload") }

  /// The metadata. With the most common content type and no attributes it allocates nothing.
  func metadata() throws(LibraryDefect) -> EntryMetadata {
    EntryMetadata(
      storedAt: try Self.time(pointer.pointee.stored_at), freshUntil: try Self.time(pointer.pointee.fresh_until),
      retainUntil: try Self.time(pointer.pointee.retain_until), contentType: try contentType(),
      attributes: pointer.pointee.attribute_count == 0 ? [:] : try attributes(),
      payloadChecksum: pointer.pointee.payload_checksum, checksum: pointer.pointee.checksum)
  }

  /// A time that a library gives.
  static func time(_ milliseconds: Int64) throws(LibraryDefect) -> Timestamp {
    let time = Timestamp(milliseconds: milliseconds)
    guard time.milliseconds == milliseconds else { throw LibraryDefect("gave the time \(milliseconds)") }
    return time
  }

  private func contentType() throws(LibraryDefect) -> String {
    let bytes = try pointer.pointee.content_type.checked("content type")
    let json: StaticString = "application/json"
    if bytes.count == json.utf8CodeUnitCount, let start = bytes.baseAddress,
      memcmp(start, json.utf8Start, bytes.count) == 0
    {
      return "application/json"
    }
    return try LibraryText.text(bytes, "content type")
  }

  private func attributes() throws(LibraryDefect) -> [String: String] {
    let count = pointer.pointee.attribute_count
    guard (0...LibraryText.maximumByteCount >> 5).contains(count), let first = pointer.pointee.attributes else {
      throw LibraryDefect("gave an entry without its \(UInt(bitPattern: count)) attributes")
    }
    var attributes: [String: String] = [:]
    for attribute in UnsafeBufferPointer(start: first, count: count) {
      let name = try LibraryText.text(attribute.name, "name of an attribute")
      guard attributes.updateValue(try LibraryText.text(attribute.value, "value of an attribute"), forKey: name) == nil
      else { throw LibraryDefect("gave an entry with two attributes of one name") }
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
    let text = try LibraryText.text(bytes, "key")
    do throws(CacheError) {
      try self.init(text)
    } catch {
      throw LibraryDefect("gave an invalid key: \(LibraryText.cleaned(text))")
    }
  }
}

/// Texts from a library, which may contain anything.
enum LibraryText {
  /// The longest terminated text, in bytes.
  static let maximumLength = 4_096

  /// The most bytes that a library may lend at once.
  static let maximumByteCount = 1 << 40

  /// The terminated text at `pointer`.
  ///
  /// - Throws: `LibraryDefect` if there is none, or it is invalid UTF-8 or too long.
  static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(LibraryDefect) -> String {
    guard let pointer else { throw LibraryDefect("has no \(what)") }
    let length = strnlen(pointer, maximumLength + 1)
    guard length <= maximumLength else { throw LibraryDefect("has a \(what) of more than \(maximumLength) bytes") }
    let start = UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self)
    return try text(UnsafeBufferPointer(start: start, count: length), what)
  }

  /// The text in `bytes`.
  ///
  /// - Throws: `LibraryDefect` if the bytes are impossible, or not valid UTF-8.
  static func text(_ bytes: cachectl_bytes, _ what: String) throws(LibraryDefect) -> String {
    try text(try bytes.checked(what), what)
  }

  /// The text in `bytes`.
  ///
  /// - Throws: `LibraryDefect` if it is not valid UTF-8.
  static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ what: String) throws(LibraryDefect) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw LibraryDefect("has a \(what) that is not UTF-8")
    }
    return text
  }

  /// The text in `bytes`, which must be one printable line.
  static func line(_ bytes: cachectl_bytes, _ what: String) throws(LibraryDefect) -> String {
    let text = try text(bytes, what)
    guard isLine(text) else { throw LibraryDefect("gave a \(what) that is not one line") }
    return text
  }

  /// Whether `text` is one printable line: not empty, without control characters.
  static func isLine(_ text: String) -> Bool {
    !text.isEmpty && !text.unicodeScalars.contains(where: TerminalText.isHarmful)
  }

  /// Makes one clean line from `bytes` up to the first zero byte, or to their end. It replaces invalid UTF-8, turns
  /// control characters and line ends into spaces, and removes a final full stop.
  static func cleaned(_ bytes: UnsafeRawBufferPointer) -> String {
    cleaned(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
  }

  /// Makes one clean line from `text` in the same way.
  static func cleaned(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isSpace = scalar == " " || TerminalText.isHarmful(scalar)
      if !isSpace { line.append(scalar) } else if line.last != " ", !line.isEmpty { line.append(" ") }
    }
    while line.last == " " || line.last == "." { line.removeLast() }
    return String(line)
  }

  /// Whether `name` is a lower-case letter, then letters and digits, and hyphens if they are allowed.
  static func isName(_ name: String, hyphens: Bool = false) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      byte.isASCIIDigit || (97...122).contains(byte) || (hyphens ? byte == 45 : (65...90).contains(byte))
    }
  }
}

extension cachectl_bytes {
  /// The bytes, in place.
  ///
  /// - Throws: `LibraryDefect` if the pointer or the length is impossible.
  func checked(_ what: String) throws(LibraryDefect) -> UnsafeBufferPointer<UInt8> {
    guard (0...LibraryText.maximumByteCount).contains(length) else {
      throw LibraryDefect("gave a \(what) of \(UInt(bitPattern: length)) bytes")
    }
    guard data != nil || length == 0 else { throw LibraryDefect("gave a \(what) without its bytes") }
    return UnsafeBufferPointer(start: data, count: length)
  }
}

/// Copies in memory that C can read, for as long as the arena is there.
final class LibraryArena {
  private var blocks: [UnsafeMutableRawPointer] = []

  deinit { for block in blocks { block.deallocate() } }

  /// A copy of `values`.
  func array<Value>(_ values: [Value]) -> UnsafePointer<Value> {
    let copy = UnsafeMutablePointer<Value>.allocate(capacity: max(values.count, 1))
    copy.initialize(from: values, count: values.count)
    blocks.append(copy)
    return UnsafePointer(copy)
  }

  /// A zero-terminated copy of `text`.
  func terminated(_ text: String) -> UnsafePointer<CChar> { array(Array(text.utf8CString)) }

  /// A copy of the bytes of `text`.
  func bytes(_ text: String) -> cachectl_bytes { bytes(Array(text.utf8)) }

  private func bytes(_ bytes: [UInt8]) -> cachectl_bytes { cachectl_bytes(data: array(bytes), length: bytes.count) }

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
    switch operation {
    case .put(let key, let payload, let metadata):
      var put = lent(CACHECTL_PUT, key, metadata)
      put.entry.payload = bytes(payload)
      return put
    case .update(let key, let metadata, let checksum): return lent(CACHECTL_UPDATE, key, metadata, expected: checksum)
    case .remove(let key): return lent(CACHECTL_REMOVE, key)
    case .require(let key, .absent): return lent(CACHECTL_REQUIRE_ABSENT, key)
    case .require(let key, .checksum(let checksum)): return lent(CACHECTL_REQUIRE_CHECKSUM, key, expected: checksum)
    }
  }

  private func lent(
    _ kind: cachectl_operation_kind, _ key: CacheKey, _ metadata: EntryMetadata? = nil, expected: UInt64 = 0
  ) -> cachectl_operation {
    var entry = cachectl_entry()
    entry.key = bytes(key.text)
    if let metadata {
      entry.stored_at = metadata.storedAt.milliseconds
      entry.fresh_until = metadata.freshUntil.milliseconds
      entry.retain_until = metadata.retainUntil.milliseconds
      entry.payload_checksum = metadata.payloadChecksum
      entry.checksum = metadata.checksum
      entry.content_type = bytes(metadata.contentType)
      // Sorted by name, so that a library that writes them in this order always writes the same bytes.
      let attributes = metadata.attributes.sorted { $0.key < $1.key }
      entry.attributes = array(attributes.map { cachectl_attribute(name: bytes($0.key), value: bytes($0.value)) })
      entry.attribute_count = attributes.count
    }
    return cachectl_operation(kind: kind.rawValue, expected: expected, entry: entry)
  }

  /// A copy of the values of the options that `declaration` declares, with a clock.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a text contains a zero byte, which a C string cannot.
  func configuration(
    _ source: EngineConfiguration, for declaration: EngineDeclaration, _ clock: LibraryClock
  ) throws(CacheError) -> UnsafePointer<cachectl_configuration> {
    var values: [cachectl_value] = []
    for option in declaration.options {
      guard let value = source.value(option.name) else { continue }
      var lent = cachectl_value(name: terminated(option.name), text: nil, number: 0)
      switch value {
      case .text(let text):
        guard !text.utf8.contains(0) else {
          throw CacheError(
            .invalidOption, "option '\(option.name)' of backend \(declaration.name) has a zero byte in it")
        }
        lent.text = terminated(text)
      case .integer(let number): lent.number = number
      case .boolean(let flag): lent.number = flag ? 1 : 0
      }
      values.append(lent)
    }
    return array([
      cachectl_configuration(
        values: array(values), value_count: values.count, now: LibraryClock.now, clock: clock.context)
    ])
  }
}

/// The clock in the form that a library receives. It lives until `close` has returned.
final class LibraryClock: Sendable {
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  /// The argument that the library passes to `now`.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The function that a library calls; without a clock it returns 1970.
  static let now: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { context in
    guard let context else { return 0 }
    return Unmanaged<LibraryClock>.fromOpaque(context).takeUnretainedValue().clock.now.milliseconds
  }
}
