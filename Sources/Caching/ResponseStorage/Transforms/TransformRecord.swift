internal import CachedFetching
internal import StorageSPI

/// One transform that an entry was written with: `name`, then `:parameter` and `@dictionary` if there are any.
struct TransformStep: Sendable, Hashable {
  let name: String
  var parameter = ""
  /// The identifier of the dictionary; `nil` if none was used.
  var dictionary: String?

  init(_ name: String, parameter: String = "", dictionary: String? = nil) {
    (self.name, self.parameter, self.dictionary) = (name, parameter, dictionary)
  }

  /// Reads a step from its text.
  init(_ text: Substring) {
    let halves = text.split(separator: "@", maxSplits: 1)
    dictionary = halves.count == 2 ? String(halves[1]) : nil
    let words = halves.first?.split(separator: ":", maxSplits: 1) ?? []
    name = words.first.map(String.init) ?? ""
    parameter = words.count == 2 ? String(words[1]) : ""
  }

  /// The step as metadata holds it.
  var text: String { name + (parameter.isEmpty ? "" : ":" + parameter) + (dictionary.map { "@" + $0 } ?? "") }
}

/// What metadata says about the transforms of an entry: two attributes, whose names no header field can have.
extension EntryMetadata {
  /// The attribute with the steps, in the order in which they were applied, with spaces between them.
  static let transformsName = ":transforms"
  /// The attribute with the hidden attributes, in base 64.
  static let hiddenName = ":hidden"

  /// The steps that the entry was written with, as text; `nil` if it is stored as it is.
  var transforms: String? { attributes[Self.transformsName] }

  /// The steps that the entry was written with, in order.
  var transformSteps: [TransformStep] { transforms?.split(separator: " ").map(TransformStep.init) ?? [] }

  /// Whether an attribute stays readable if the others are hidden, because it decides how the entry may be used.
  static func isAlwaysReadable(attribute name: String) -> Bool {
    StoredHead.cachingFields.contains(name) || AttributeName.ofHead.contains(name) || name == transformsName
  }
}

/// Attributes as bytes, for transforms that hide them: each name and value with its length before it.
enum AttributeBlock {
  static func bytes(_ attributes: [String: String]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      for text in [name, value] {
        Swift.withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text.utf8)
      }
    }
    return bytes
  }

  /// The attributes in `bytes`; `nil` if `bytes(_:)` cannot have made them.
  static func attributes(_ bytes: [UInt8]) -> [String: String]? {
    var (attributes, rest) = ([String: String](), bytes[...])
    while !rest.isEmpty {
      guard let name = text(&rest), let value = text(&rest) else { return nil }
      attributes[name] = value
    }
    return attributes
  }

  private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.count >= 4 else { return nil }
    let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    rest = rest.dropFirst(4)
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return String(validating: rest.prefix(count), as: UTF8.self)
  }
}
