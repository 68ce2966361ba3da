internal import EngineAPI

/// One transform that an entry was written with: `name`, then `:parameter` if there is one. Neither contains a space or a
/// colon, since both consist of letters and digits.
struct TransformStep: Sendable, Hashable {
  let name: String
  var parameter = ""

  /// Whether `text` can be the name of a transform.
  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLowercase(first), text.utf8.count <= 32 else { return false }
    return text.utf8.allSatisfy { isLowercase($0) || isDigit($0) }
  }

  /// Whether `text` can be a parameter.
  static func isParameter(_ text: String) -> Bool {
    text.utf8.count <= 64 && text.utf8.allSatisfy { isLowercase($0 | 0x20) || isDigit($0) }
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// The step as metadata holds it.
  var text: String { name + (parameter.isEmpty ? "" : ":" + parameter) }
}

extension TransformStep {
  /// Reads a step from its text; `nil` if no step is written like that.
  init?(_ text: Substring) {
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(name: String(words[0]), parameter: words.count == 2 ? String(words[1]) : "")
    guard Self.isName(name), Self.isParameter(parameter), self.text == text else { return nil }
  }
}

/// The record of an entry's transforms in its metadata: three attributes, whose names no header field can have.
extension EntryMetadata {
  /// The attribute with the steps, in the order in which they were applied, with spaces between them.
  static let transformsName = ":transforms"
  /// The attribute with the hidden attributes, in base 64. An entry whose content is hidden has it even without such
  /// attributes: a transform that proves something proves all of the metadata with it.
  static let hiddenName = ":hidden"
  /// The attribute with the seal of an entry whose content is hidden; see `seal`.
  static let sealName = ":seal"

  /// The steps that the entry was written with, as text; `nil` if it is stored as it is.
  var transforms: String? { attribute(named: Self.transformsName) }

  /// The steps that the entry was written with, in order; `nil` if the attribute is not what the core writes.
  var transformSteps: [TransformStep]? {
    guard let transforms else { return [] }
    let words = transforms.split(separator: " ", omittingEmptySubsequences: false)
    let steps = words.compactMap { TransformStep($0) }
    return steps.count == words.count && Set(steps.map(\.name)).count == steps.count ? steps : nil
  }

  /// The hidden attributes, in base 64; `nil` if the entry's content is not hidden.
  var hidden: String? { attribute(named: Self.hiddenName) }

  /// The seal; `nil` if the entry's content is not hidden, or the attribute is not what the core writes. It is
  /// authenticated with the attributes, which are hidden apart from the payload: metadata can be renewed while the
  /// payload stays stored unchanged.
  ///
  /// It has the latest time up to which the entry can be fresh, so that an entry can be made stale without a key, and
  /// the tag of the hidden payload, in base 64; that is empty if its transform proves nothing.
  var seal: (freshUntil: Timestamp, tag: String)? {
    let words = attribute(named: Self.sealName)?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 2, let milliseconds = Int64(words[0]) else { return nil }
    return (Timestamp(milliseconds: milliseconds), String(words[1]))
  }

  /// Whether an attribute stays readable if the others are hidden, because it decides how the entry can be used.
  static func isAlwaysReadable(attribute name: String) -> Bool {
    StoredHead.cachingFields.contains(name) || AttributeName.ofHead.contains(name)
      || name == transformsName || name == sealName
  }

  var withoutRecord: EntryMetadata {
    var metadata = self
    var attributes = attributes
    for name in [Self.transformsName, Self.hiddenName, Self.sealName] { attributes[name] = nil }
    metadata.attributes = attributes
    return metadata
  }

  /// The bytes that are authenticated together with the hidden attributes: the rest of the metadata, except
  /// `freshUntil`, which the seal bounds, and the checksum. With the payload's checksum among them, a decoded value can
  /// be used again by it.
  var authenticatedBytes: [UInt8] {
    var bytes: [UInt8] = []
    let checksum = Int64(bitPattern: payloadChecksum)
    for number in [checksum, storedAt.milliseconds, retainUntil.milliseconds, Int64(contentType.utf8.count)] {
      bytes.append(littleEndian: number)
    }
    bytes.append(contentsOf: contentType.utf8)
    var readable = attributes
    readable[Self.hiddenName] = nil
    return bytes + JSONWriter.bytes(of: readable)
  }
}
