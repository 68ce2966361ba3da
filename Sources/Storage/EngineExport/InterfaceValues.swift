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
  /// The metadata of an entry that the other side lends, without the attributes. With the most common content type it allocates
  /// nothing.
  ///
  /// Times out of range become the nearest ones, and a content type that is not UTF-8 is repaired: the checksum of the entry
  /// then shows that it is damaged.
  package init(withoutAttributes entry: UnsafePointer<cachectl_entry>) {
    let type = entry.pointee.content_type
    let json: StaticString = "application/json"
    let isJSON = type.length == json.utf8CodeUnitCount && type.data.map { memcmp($0, json.utf8Start, type.length) } == 0
    self.init(
      storedAt: Timestamp(milliseconds: entry.pointee.stored_at),
      freshUntil: Timestamp(milliseconds: entry.pointee.fresh_until),
      retainUntil: Timestamp(milliseconds: entry.pointee.retain_until),
      contentType: isJSON ? "application/json" : type.text,
      payloadChecksum: entry.pointee.payload_checksum, checksum: entry.pointee.checksum)
  }

  /// Takes the attributes of an entry; returns `false` if these are not encoded ones.
  package mutating func setAttributes(_ entry: UnsafePointer<cachectl_entry>) -> Bool {
    setAttributes(encoded: UnsafeRawBufferPointer(entry.pointee.attributes.bytes))
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
