/// Reformats JSON text for people.
public enum JSONIndent {
  /// The JSON text `text` with one member or element per line, indented by two spaces; `nil` if its brackets do not
  /// match or a string does not end.
  ///
  /// Looks only at the characters: numbers keep their digits and strings their escapes, and nothing else is checked.
  /// Cost: linear, plus the indentation.
  public static func indented(_ text: String) -> String? {
    var layout = Layout()
    for byte in text.utf8 where !layout.accept(byte) { return nil }
    return layout.isComplete ? String(decoding: layout.bytes, as: UTF8.self) : nil
  }

  /// The state of laying out one document.
  private struct Layout {
    var bytes: [UInt8] = []
    private var closers: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// Whether the last byte opened a bracket: an empty pair stays on its line.
    private var isJustOpened = false

    var isComplete: Bool { closers.isEmpty && !isInString && !bytes.isEmpty }

    /// Takes one byte, and returns whether it is valid there.
    mutating func accept(_ byte: UInt8) -> Bool {
      if isInString {
        continueString(byte)
        return true
      }
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): return true
      case UInt8(ascii: "}"), UInt8(ascii: "]"): return close(byte)
      default:
        begin(byte)
        return true
      }
    }

    private mutating func continueString(_ byte: UInt8) {
      bytes.append(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
    }

    private mutating func close(_ byte: UInt8) -> Bool {
      guard closers.popLast() == byte else { return false }
      if !isJustOpened { breakLine() }
      isJustOpened = false
      bytes.append(byte)
      return true
    }

    private mutating func begin(_ byte: UInt8) {
      if isJustOpened { breakLine() }
      isJustOpened = false
      bytes.append(byte)
      switch byte {
      case UInt8(ascii: "{"): open(UInt8(ascii: "}"))
      case UInt8(ascii: "["): open(UInt8(ascii: "]"))
      case UInt8(ascii: ","): breakLine()
      case UInt8(ascii: ":"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "\""): isInString = true
      default: break
      }
    }

    private mutating func open(_ closer: UInt8) {
      closers.append(closer)
      isJustOpened = true
    }

    private mutating func breakLine() {
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * closers.count))
    }
  }
}
