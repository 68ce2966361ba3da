package import CCachectlPlugin
internal import CacheBase
package import EngineAPI

// The values of the interface in Swift. Those of the other side are checked before they are used.

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
  private static let maximumLength = 1 << 40

  /// Lends `bytes`.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(data: bytes.baseAddress, length: bytes.count) }

  /// The bytes, in place.
  ///
  /// - Throws: `CacheError`: a defect if the pointer or the length is impossible.
  package func checked(_ what: StaticString) throws(CacheError) -> UnsafeBufferPointer<UInt8> {
    guard (0...Self.maximumLength).contains(length) else {
      throw .defect("gave a \(what) of \(UInt(bitPattern: length)) bytes")
    }
    guard data != nil || length == 0 else { throw .defect("gave a \(what) without its bytes") }
    return UnsafeBufferPointer(start: data, count: length)
  }

  /// A copy as text.
  ///
  /// - Throws: `CacheError`: a defect if the bytes are impossible, or not UTF-8.
  package func text(_ what: StaticString) throws(CacheError) -> String {
    let bytes = try checked(what)
    // `String(validating:as:)` takes twice as long for a short text.
    do { return String(copying: try UTF8Span(validating: bytes.span)) } catch {
      throw .defect("has a \(what) that is not UTF-8")
    }
  }
}

extension cachectl_entry {
  /// An entry with the times and checksums of `metadata`, and without bytes.
  package init(_ metadata: borrowing EntryMetadata) {
    self.init()
    stored_at = metadata.storedAt.milliseconds
    fresh_until = metadata.freshUntil.milliseconds
    retain_until = metadata.retainUntil.milliseconds
    payload_checksum = metadata.payloadChecksum
    checksum = metadata.checksum
  }
}

extension EntryMetadata {
  /// The metadata of an entry that the other side lends. With the most common content type and no attributes it allocates
  /// nothing.
  ///
  /// - Throws: `CacheError`: a defect if any of it is impossible; `damaged` with an `UnreadableEntry` if these are not the
  ///   attributes that were stored. The caller has checked the key.
  package init(checking entry: cachectl_entry) throws(CacheError) {
    let type = entry.content_type
    let json: StaticString = "application/json"
    let isJSON = type.length == json.utf8CodeUnitCount && type.data.map { memcmp($0, json.utf8Start, type.length) } == 0
    self.init(
      storedAt: try Timestamp(checking: entry.stored_at), freshUntil: try Timestamp(checking: entry.fresh_until),
      retainUntil: try Timestamp(checking: entry.retain_until),
      contentType: isJSON ? "application/json" : try type.text("content type"),
      payloadChecksum: entry.payload_checksum, checksum: entry.checksum)
    if entry.attributes.length == 0 { return }
    let attributes = try entry.attributes.checked("list of attributes")
    guard decodeAttributes(attributes) else {
      let key = CacheKey(trusting: try entry.key.checked("key").span)
      throw CacheError(
        .damaged, "entry \(key) is damaged: its attributes are not the stored ones", cause: UnreadableEntry(key))
    }
  }

  /// The attributes as the interface has them: the name and value of each one, each as its size (4 bytes) and its bytes.
  ///
  /// - Parameter isSorted: whether they are in the order of names, so that an engine stores the same bytes for the same
  ///   attributes.
  package func encodedAttributes(isSorted: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    if attributes.isEmpty { return bytes }
    bytes.reserveCapacity(256)
    for (name, value) in isSorted ? attributes.sorted(by: { $0.key < $1.key }) : Array(attributes) {
      for text in [name, value] {
        withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text.utf8)
      }
    }
    return bytes
  }

  /// Returns `false` if these are no attributes.
  private mutating func decodeAttributes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var rest = UnsafeRawBufferPointer(bytes)
    func text() -> String? {
      let size = rest.count < 4 ? .max : Int(UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self)))
      guard size <= rest.count - 4 else { return nil }
      let text = UnsafeRawBufferPointer(rebasing: rest[4..<4 + size])
      rest = UnsafeRawBufferPointer(rebasing: rest[(4 + size)...])
      do { return String(copying: try UTF8Span(validating: text.assumingMemoryBound(to: UInt8.self).span)) } catch {
        return nil
      }
    }
    while !rest.isEmpty {
      guard let name = text(), let value = text() else { return false }
      attributes[name] = value
    }
    return true
  }
}

extension Timestamp {
  /// A time that the other side gives.
  ///
  /// - Throws: `CacheError`: a defect if it is out of range.
  @inline(__always)
  package init(checking milliseconds: Int64) throws(CacheError) {
    self.init(milliseconds: milliseconds)
    guard self.milliseconds == milliseconds else { throw .defect("gave the time \(milliseconds)") }
  }
}

extension OptionValue {
  /// The value as the interface has it.
  package var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .boolean(let flag): String(flag)
    }
  }

  /// The value of an option of the kind `kind`; `nil` if `text` is none.
  package init?(_ text: String, _ kind: EngineOption.Kind) {
    let value: OptionValue? =
      switch kind {
      case .text, .path, .choice, .storeName: .text(text)
      case .integer, .size, .duration: Int64(text).map { .integer($0) }
      case .boolean: Bool(text).map { .boolean($0) }
      }
    guard let value else { return nil }
    self = value
  }
}
