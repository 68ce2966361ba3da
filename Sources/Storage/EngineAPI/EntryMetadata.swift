/// Everything about an entry besides its payload. An engine stores every field and returns it unchanged.
///
/// All times are absolute, so an entry keeps its expiry when it moves to another engine.
public struct EntryMetadata: Sendable, Hashable {
  /// When the entry was written or last confirmed by its origin.
  public var storedAt: Timestamp

  /// From this instant on the entry is stale: the core revalidates it, or serves it while the origin is down.
  public var freshUntil: Timestamp

  /// From this instant on, and never before, the entry is expired and an engine can drop it.
  public var retainUntil: Timestamp

  /// The media type of the payload, such as "application/json".
  public var contentType: String

  /// The attributes as bytes, which `encoded()` contains: in the order of names, the name and the value of each one, as the
  /// size (4 bytes, the lowest first) and the UTF-8. Empty if there are none.
  public private(set) var encodedAttributes: [UInt8]

  /// A checksum of the payload alone, so that metadata can be renewed without reading the payload. The core computes and
  /// checks it; an engine only stores it.
  public var payloadChecksum: UInt64

  /// A checksum of the key and all other fields, `payloadChecksum` among them. The core computes and checks it; an engine
  /// only stores it.
  ///
  /// It also serves as the entry's version: see `WriteBatch.Expectation`.
  public var checksum: UInt64

  /// The metadata of one entry without attributes; the core sets the checksums.
  public init(
    storedAt: Timestamp, freshUntil: Timestamp, retainUntil: Timestamp, contentType: String,
    payloadChecksum: UInt64 = 0, checksum: UInt64 = 0
  ) {
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    self.retainUntil = retainUntil
    self.contentType = contentType
    self.encodedAttributes = []
    self.payloadChecksum = payloadChecksum
    self.checksum = checksum
  }

  /// The metadata of one entry; the core sets the checksums.
  public init(
    storedAt: Timestamp, freshUntil: Timestamp, retainUntil: Timestamp, contentType: String,
    attributes: [String: String], payloadChecksum: UInt64 = 0, checksum: UInt64 = 0
  ) {
    self.init(
      storedAt: storedAt, freshUntil: freshUntil, retainUntil: retainUntil, contentType: contentType,
      payloadChecksum: payloadChecksum, checksum: checksum)
    self.attributes = attributes
  }

  /// The entry's state at `time`: fresh before `freshUntil`, expired from `retainUntil` on. An entry stored ahead of
  /// the clock is stale, because its age is unknown.
  public func state(at time: Timestamp) -> EntryState {
    if time >= retainUntil { return .expired }
    if storedAt.isAhead(of: time) { return .stale }
    return max(time, storedAt) < freshUntil ? .fresh : .stale
  }
}

/// Attributes are kept as the bytes that most engines store, and decoded by those who look at them.
extension EntryMetadata {
  /// More facts by name, such as the origin's validator ("etag"). Names, values and their number are unlimited. Cost of each
  /// use: all of them are decoded, or encoded.
  public var attributes: [String: String] {
    get {
      var attributes: [String: String] = [:]
      forEachAttribute { attributes[String(decoding: $0, as: UTF8.self)] = String(decoding: $1, as: UTF8.self) }
      return attributes
    }
    set { encodedAttributes = Self.encoded(newValue) }
  }

  /// The value of one attribute; `nil` if there is none of that name. Cost: a comparison for each attribute.
  public func attribute(named name: String) -> String? {
    var found: String?
    name.utf8.span.withUnsafeBytes { name in
      forEachAttribute { other, value in
        if other.count == name.count, other.elementsEqual(name) { found = String(decoding: value, as: UTF8.self) }
      }
    }
    return found
  }

  /// Calls `body` with the bytes of each attribute's name and value, in the order of names.
  public func forEachAttribute(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
    if encodedAttributes.isEmpty { return }
    encodedAttributes.withUnsafeBytes { bytes in
      _ = Self.visit(bytes) { name, value in
        body(name, value)
        return true
      }
    }
  }

  /// Takes attributes that were stored as `encodedAttributes`.
  ///
  /// - Returns: `false` if `bytes` cannot be such attributes; nothing has changed then.
  public mutating func setAttributes(encoded bytes: UnsafeRawBufferPointer) -> Bool {
    guard Self.visit(bytes, { Self.isText($0) && Self.isText($1) }) else { return false }
    encodedAttributes = Array(bytes)
    return true
  }

  private static func encoded(_ attributes: [String: String]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      for text in [name, value] {
        bytes.append(littleEndian: UInt32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
      }
    }
    return bytes
  }

  private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (try? UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)) != nil
  }

  /// Calls `body` with each name and value until it returns `false`. Returns whether it got to the end of `bytes`.
  private static func visit(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    var rest = bytes
    func text() -> UnsafeRawBufferPointer? {
      guard rest.count >= 4 else { return nil }
      let size = Int(rest.number(at: 0, as: UInt32.self))
      guard size <= rest.count - 4 else { return nil }
      let text = UnsafeRawBufferPointer(rebasing: rest[4..<4 + size])
      rest = UnsafeRawBufferPointer(rebasing: rest[(4 + size)...])
      return text
    }
    while !rest.isEmpty {
      guard let name = text(), let value = text(), body(name, value) else { return false }
    }
    return true
  }
}

/// Attributes as a JSON object. The same attributes have the same bytes.
extension JSONWriter {
  /// Writes the object.
  public mutating func attributes(_ attributes: [String: String]) {
    object { json in
      for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { json.member(name, value) }
    }
  }

  /// The object's bytes.
  public static func bytes(of attributes: [String: String]) -> [UInt8] {
    var json = JSONWriter()
    json.attributes(attributes)
    return json.bytes
  }
}

extension JSONReader {
  /// Reads the object.
  ///
  /// - Throws: `Failure` unless it is one of texts, without a repeated name.
  public mutating func attributes() throws(Failure) -> [String: String] {
    var attributes: [String: String] = [:]
    try objectWithoutRepeats { json, name throws(Failure) in attributes[name] = try json.string() }
    return attributes
  }

  /// The attributes in `bytes`; `nil` if these are not such an object.
  public static func attributes(in bytes: [UInt8]) -> [String: String]? {
    var json = JSONReader(bytes)
    guard let attributes = try? json.attributes(), (try? json.end()) != nil else { return nil }
    return attributes
  }
}

/// The state of an entry at one moment.
public enum EntryState: String, Sendable, CaseIterable {
  /// Can be served without asking the origin.
  case fresh
  /// Needs revalidation; can be served if the origin is down.
  case stale
  /// No longer usable; an engine can drop it at any moment.
  case expired
}
