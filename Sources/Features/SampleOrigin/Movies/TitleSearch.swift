internal import CSampleData
internal import CacheDomain

/// Finds movies by the words of their titles.
///
/// A movie matches if every word of the query begins a word of its title, regardless of case and diacritics: "star wa"
/// finds "Star Wars". Words end at white space and punctuation; a title with punctuation inside a word also matches
/// without it ("wall e" and "walle" find "WALL-E", "oceans" finds "Ocean's Eleven").
///
/// Titles equal to the query come first, then titles that begin with it, then titles with all its words as whole words,
/// then the others. Within each group the order is that of the data: by box office, then, if that is unknown, the
/// latest first, then by number.
enum TitleSearch {
  private static let titles = EmbeddedText(csample_movie_titles())

  /// The number of digits of the record's offset before each title; a space follows, so every word of the title follows
  /// a space.
  private static let offsetLength = 7

  private static let space = UInt8(ascii: " ")
  private static let tab = UInt8(ascii: "\t")

  /// The offsets of the records that match `query`, the best first. Scans all titles: 0.05 ms for a few matches, 1 ms
  /// for thousands.
  ///
  /// - Throws: `CacheError`: `cancelled`.
  static func offsets(_ query: MovieQuery) throws(CacheError) -> [Int] {
    let words = TextFolding.words(ofFolded: TextFolding.fold(query.text))
    let needles = Set(words).map { Array(" \($0)".utf8) }.sorted { $0.count > $1.count }
    guard let longest = needles.first else { return [] }
    let phrase = Array(words.joined(separator: " ").utf8)

    var groups: [[Int]] = [[], [], [], []]
    var start = 0
    while let hit = titles.firstIndex(of: longest, in: start..<titles.count) {
      let line = titles.startOfLine(hit)..<titles.endOfLine(hit)
      start = line.upperBound
      if let group = group(line, needles: needles, phrase: phrase) {
        if Task.isCancelled { throw .cancelled }
        groups[group].append(titles.number(line.lowerBound..<line.lowerBound + offsetLength) ?? 0)
      }
    }
    return groups.flatMap { $0 }
  }

  /// The rank of the title in `line`, 0 the best; `nil` if it lacks a word.
  private static func group(_ line: Range<Int>, needles: [[UInt8]], phrase: [UInt8]) -> Int? {
    let title = line.lowerBound + offsetLength..<line.upperBound
    var areWhole = true
    for needle in needles {
      guard let isWhole = find(needle, in: title) else { return nil }
      areWhole = areWhole && isWhole
    }
    let end = title.lowerBound + 1 + phrase.count
    guard end <= title.upperBound, titles.has(phrase, at: title.lowerBound + 1) else { return areWhole ? 2 : 3 }
    if end == title.upperBound || titles.bytes[end] == tab { return 0 }
    return titles.bytes[end] == space ? 1 : areWhole ? 2 : 3
  }

  /// Whether `needle`, a space and letters, is a whole word of the text in `range`; `nil` if it does not even begin a word.
  private static func find(_ needle: [UInt8], in range: Range<Int>) -> Bool? {
    var (found, start) = (nil as Bool?, range.lowerBound)
    while let hit = titles.firstIndex(of: needle, in: start..<range.upperBound) {
      start = hit + needle.count
      if start == range.upperBound || titles.bytes[start] == space || titles.bytes[start] == tab { return true }
      found = false
    }
    return found
  }
}

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
