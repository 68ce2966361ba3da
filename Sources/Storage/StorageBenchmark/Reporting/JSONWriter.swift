internal import StorageSPI

/// Writes an indented JSON document member by member.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var depth = 0
  private var isFirst = true

  /// Writes an object; `body` writes its members.
  mutating func object(_ body: (inout JSONWriter) -> Void) { nested("{", "}", body) }

  /// Writes an object as a member; `body` writes its members.
  mutating func object(_ key: String, _ body: (inout JSONWriter) -> Void) {
    begin(key)
    object(body)
  }

  /// Writes a list as a member; `element` writes its elements.
  mutating func list<Element>(
    _ key: String, _ elements: some Sequence<Element>, _ element: (inout JSONWriter, Element) -> Void
  ) {
    begin(key)
    nested("[", "]") { writer in
      for one in elements {
        writer.beginElement()
        element(&writer, one)
      }
    }
  }

  /// Writes a list of numbers on one line, as an element.
  mutating func numbers(_ numbers: [UInt64]) {
    append("[" + numbers.map(String.init).joined(separator: ", ") + "]")
  }

  mutating func member(_ key: String, _ text: String) {
    begin(key)
    JSONString.append(text, to: &bytes)
  }

  mutating func member(_ key: String, _ flag: Bool) {
    begin(key)
    append(flag ? "true" : "false")
  }

  /// Writes a whole number, or null.
  mutating func member(_ key: String, _ number: (some BinaryInteger)?) {
    begin(key)
    append(number.map { "\($0)" } ?? "null")
  }

  /// Writes a number, or null if it is `nil` or not finite.
  mutating func member(_ key: String, number: Double?) {
    begin(key)
    append(number.flatMap { $0.isFinite ? "\($0)" : nil } ?? "null")
  }

  private mutating func nested(_ open: String, _ close: String, _ body: (inout JSONWriter) -> Void) {
    append(open)
    (depth, isFirst) = (depth + 1, true)
    body(&self)
    depth -= 1
    if !isFirst { newLine() }
    isFirst = false
    append(close)
  }

  private mutating func begin(_ key: String) {
    beginElement()
    JSONString.append(key, to: &bytes)
    append(": ")
  }

  private mutating func beginElement() {
    if !isFirst { append(",") }
    isFirst = false
    newLine()
  }

  private mutating func newLine() { append("\n" + String(repeating: "  ", count: depth)) }

  private mutating func append(_ text: String) { bytes += Array(text.utf8) }
}
