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
