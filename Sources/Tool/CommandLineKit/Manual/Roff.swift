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
    let isMarked = parts.count > 2 && parts.count % 2 == 1
    let runs = (isMarked ? parts : [text[...]]).enumerated().map { index, part in
      index % 2 == 0 ? breakable(part) : "\\fB" + breakable(part) + "\\fR"
    }
    let line = runs.joined()
    return line.hasPrefix(".") ? "\\&" + line : line
  }

  /// `text`, escaped, with places in its long words at which a line can break: a narrow terminal has no room for them.
  private static func breakable(_ text: Substring) -> String {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      guard word.utf8.count > 20 else { return inner(word) }
      return word.map { inner(Substring("\($0)")) + ("_/,.=|:".contains($0) ? "\\:" : "") }.joined()
    }
    return words.joined(separator: " ")
  }

  /// Part of a command line, such as `[--limit N]`: a word in capitals is a placeholder and italic, the rest is bold.
  static func synopsis(_ text: String) -> String {
    var (result, font, rest) = ("", Character("R"), text[...])
    func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber || "-_".contains(character) }
    while let first = rest.first {
      // A stop is bold between the parts of a name.
      let isPlain = "[]|, ".contains(first) || first == "." && font != "B"
      let word = isPlain ? rest.prefix(1) : isWord(first) ? rest.prefix(while: isWord) : rest.prefix(1)
      let isPlaceholder = first.isLetter && !word.contains { $0.isLowercase || $0 == "_" }
      let wanted: Character = isPlaceholder ? "I" : isPlain ? "R" : "B"
      if wanted != font { result += "\\f\(wanted)" }
      font = wanted
      result += inner(word) + (first == "." && text.utf8.count > 20 ? "\\:" : "")
      rest = rest.dropFirst(word.count)
    }
    // A leading font change already keeps the line from being a request.
    return (result.hasPrefix(".") ? "\\&" : "") + result + (font == "R" ? "" : "\\fR")
  }

  static func bold(_ text: String) -> String { "\\fB" + inner(text[...]) + "\\fR" }

  /// A macro's argument.
  static func quoted(_ text: String) -> String { "\"" + inner(text[...]) + "\"" }

  /// `text` escaped for a place that is not the beginning of a line.
  private static func inner(_ text: Substring) -> String {
    let result = escaped(String(text))
    return result.hasPrefix("\\&") ? String(result.dropFirst(2)) : result
  }
}
