internal import CacheBase
package import CCachectlPlugin
package import EngineAPI

// The values of the interface in Swift, for both sides. Those of a library are checked before they are used.

/// The cause of an error that says which rule of the interface a library broke.
package struct InterfaceDefect: Error {}

extension CacheError {
  /// The error for a rule that a library broke: what it did, as the rest of a sentence that starts with its name.
  package static func defect(_ text: String) -> CacheError { CacheError(.failed, text, cause: InterfaceDefect()) }

  /// The codes of the interface in the order of their numbers, from 1.
  package static let interfaceCodes: [Code] = [
    .failed, .invalidOption, .damaged, .unsupportedFormat, .cannotCreate, .permissionDenied, .noSpace, .ioFailed, .busy,
    .unreachable, .conflict, .tooLarge, .overBounds, .unsupported,
  ]
}

extension cachectl_bytes {
  /// Lends `bytes`.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(data: bytes.baseAddress, length: bytes.count) }

  /// The bytes, in place. Those of a library are checked first.
  package var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: data, count: length) }

  /// A copy as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
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
  /// The metadata of an entry that the other side lends; `nil` if its attributes are not encoded ones. With the most common
  /// content type and no attributes it allocates nothing.
  ///
  /// Times out of range become the nearest ones, and a content type that is not UTF-8 is repaired: the checksum of the entry
  /// then shows that it is damaged.
  package init?(_ entry: cachectl_entry) {
    let type = entry.content_type
    let json: StaticString = "application/json"
    let isJSON = type.length == json.utf8CodeUnitCount && type.data.map { memcmp($0, json.utf8Start, type.length) } == 0
    self.init(
      storedAt: Timestamp(milliseconds: entry.stored_at), freshUntil: Timestamp(milliseconds: entry.fresh_until),
      retainUntil: Timestamp(milliseconds: entry.retain_until), contentType: isJSON ? "application/json" : type.text,
      payloadChecksum: entry.payload_checksum, checksum: entry.checksum)
    guard entry.attributes.length == 0 || decodeAttributes(entry.attributes.bytes) else { return nil }
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
      return String(decoding: text, as: UTF8.self)
    }
    while !rest.isEmpty {
      guard let name = text(), let value = text() else { return false }
      attributes[name] = value
    }
    return true
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
