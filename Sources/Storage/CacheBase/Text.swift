/// Makes text of unknown origin safe to show on a terminal.
///
/// A terminal obeys control characters: such a text could move the cursor, change the title, or hide its content.
/// Visible escapes like `\u{1B}` replace them.
public enum TerminalText {
  /// `text` as one line: escapes replace all harmful characters, `\n`, `\r` and `\t` those for line ends and tabs.
  ///
  /// Cost: one pass, without a copy if nothing is harmful.
  public static func line(_ text: String) -> String { escaped(text) { _ in false } }

  /// `text` as a block of lines: line feeds and tabs stay, CR LF becomes a line feed, escapes replace all other harmful
  /// characters.
  public static func block(_ text: String) -> String {
    guard !isHarmless(text) else { return text }
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    return escaped(lines.joined(separator: "\n")) { $0 == "\n" || $0 == "\t" }
  }

  /// Whether `scalar` can act on a terminal or reorder the text around it: the control characters C0, DEL and C1, line
  /// and paragraph separators, and the bidirectional embeddings, overrides and isolates (Unicode Standard Annex 9,
  /// section 2, and https://trojansource.codes).
  public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func isHarmless(_ text: String) -> Bool {
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return true }
    return !text.unicodeScalars.contains(where: isHarmful)
  }

  private static func escaped(_ text: String, keeping isKept: (Unicode.Scalar) -> Bool) -> String {
    guard !isHarmless(text) else { return text }
    var output = ""
    for scalar in text.unicodeScalars {
      if isHarmful(scalar) && !isKept(scalar) {
        output += escape(scalar)
      } else {
        output.unicodeScalars.append(scalar)
      }
    }
    return output
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
}

extension StringProtocol {
  /// Whether this text contains the bytes of `part`. The standard library's `contains` for texts would link its regular
  /// expression engine, a megabyte of program.
  package func holds(_ part: String) -> Bool {
    let (bytes, part) = (Array(utf8), Array(part.utf8))
    guard part.count <= bytes.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
  }

  /// This text with each occurrence of the bytes of `part`, which must not be empty, replaced by `other`.
  package func replacing(_ part: String, by other: String) -> String {
    let part = Array(part.utf8)
    var (rest, result) = (Array(utf8)[...], [UInt8]())
    while let byte = rest.first {
      let isPart = rest.starts(with: part)
      result += isPart ? Array(other.utf8) : [byte]
      rest = rest.dropFirst(isPart ? part.count : 1)
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension String {
  /// This text as one word of a shell, in quotes if it needs them.
  package var shellWord: String {
    // Not by characters: to a shell a quote is one even before a combining mark.
    let isPlain = unicodeScalars.allSatisfy { scalar in
      let character = Character(scalar)
      return !scalar.isASCII || character.isLetter || character.isNumber || "/._-=+,:@".contains(character)
    }
    return isPlain && !isEmpty ? self : "'" + unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
  }
}

extension ArraySlice<UInt8> {
  /// The bytes after the UTF-8 byte order mark with which some editors begin a text; all of them if there is none.
  package func droppingByteOrderMark() -> ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
