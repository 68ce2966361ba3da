/// Writes texts in the language of troff, with the macros of man(7).
enum Roff {
  /// `text` with every character standing for itself: hyphens, quotes and the like can be copied into a shell, and
  /// nothing in it is taken for a request. Line breaks become spaces.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars { result += escaped(scalar) }
    // A request begins with a stop or an apostrophe; the latter is escaped anyway.
    return result.hasPrefix(".") ? "\\&" + result : result
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": "\\e"
    case "-": "\\-"
    case "'": "\\(aq"
    case "\"": "\\(dq"
    case "`": "\\(ga"
    case "^": "\\(ha"
    case "~": "\\(ti"
    case "\n", "\r", "\t": " "
    case _ where scalar.isASCII: String(Character(scalar))
    default: "\\[u" + padded(String(scalar.value, radix: 16, uppercase: true)) + "]"
    }
  }

  private static func padded(_ digits: String) -> String {
    String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// A sentence, in which the text between backticks is bold. It is one line of the source.
  static func sentence(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    guard parts.count > 2, parts.count % 2 == 1 else { return escaped(text) }
    let runs = parts.enumerated().map { index, part in
      index % 2 == 0 ? inner(part) : "\\fB" + inner(part) + "\\fR"
    }
    let line = runs.joined()
    return line.hasPrefix(".") ? "\\&" + line : line
  }

  /// Part of a command line, such as `[--limit <n>]`: literal text is bold, placeholders are italic and lose their
  /// angle brackets.
  static func synopsis(_ text: String) -> String {
    var (result, font, isPlaceholder) = ("", Character("R"), false)
    for character in text {
      if character == "<" || character == ">" {
        isPlaceholder = character == "<"
        continue
      }
      let isPlain = "[]|, ".contains(character) || (character == "." && font != "B")
      let wanted: Character = isPlaceholder ? "I" : isPlain ? "R" : "B"
      if wanted != font { result += "\\f\(wanted)" }
      font = wanted
      result += inner(String(character)[...])
    }
    // A leading font change already keeps the line from being a request.
    return (result.hasPrefix(".") ? "\\&" : "") + result + (font == "R" ? "" : "\\fR")
  }

  /// `text` in bold.
  static func bold(_ text: String) -> String { "\\fB" + inner(text[...]) + "\\fR" }

  /// A macro's argument.
  static func quoted(_ text: String) -> String { "\"" + inner(text[...]) + "\"" }

  /// `text` escaped for a place that is not the beginning of a line.
  private static func inner(_ text: Substring) -> String {
    let result = escaped(String(text))
    return result.hasPrefix("\\&") ? String(result.dropFirst(2)) : result
  }
}
