internal import CSampleData

/// Removes case and diacritics, so that "Amelie" finds "Amélie" and "STRASSE" finds "Straße".
///
/// ASCII is folded here. The embedded table has all other characters. The titles were folded with the same table
/// (compatibility decomposition, full case folding, no diacritics, and `ł` as `l`, `ø` as `o`, `æ` as `ae` and the
/// like), so query and title cannot be folded differently.
enum TextFolding {
  private static let table = EmbeddedText(csample_folding())

  /// `text`, folded. Takes about a microsecond for each character beyond ASCII.
  static func fold(_ text: String) -> String {
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        folded.append(contentsOf: scalar.properties.lowercaseMapping)
      } else if let mapping = mapping(of: scalar) {
        folded.append(contentsOf: mapping)
      } else {
        folded.unicodeScalars.append(scalar)
      }
    }
    return folded
  }

  /// The words of folded text: runs of letters, marks and digits. Text without any is a word as a whole, so that a
  /// title like "$" can be found.
  static func words(ofFolded text: String) -> [String] {
    let words = text.unicodeScalars.split { !isWordPart($0) }.map { String($0) }
    return words.isEmpty && !text.isEmpty ? [text] : words
  }

  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      return true
    default: return false
    }
  }

  /// The table's mapping of `scalar`. Its lines are sorted by their bytes: a binary search over byte positions, each
  /// moved back to the start of its line.
  private static func mapping(of scalar: Unicode.Scalar) -> String? {
    let key = Array(String(scalar).utf8)
    var low = 0
    var high = table.count
    while low < high {
      let start = table.startOfLine((low + high) / 2)
      let end = table.endOfLine(start)
      let line = table.bytes[start..<end]
      if line.starts(with: key) { return table.string(start + key.count + 1..<end) }
      if line.lexicographicallyPrecedes(key) { low = end + 1 } else { high = start }
    }
    return nil
  }
}
