internal import Base
internal import CCachectlPlugin
internal import Platform

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
