internal import CSampleData
internal import CacheDomain

/// Finds movies by the words of their titles.
///
/// A movie is found when every word of the query begins a word of its title, without regard to case and diacritics:
/// "star wa" finds "Star Wars". Words end at white space and punctuation; what a title writes with punctuation inside is
/// also found written together ("wall e" and "walle" find "WALL-E", "oceans" finds "Ocean's Eleven").
///
/// First come titles that are the query, then those that begin with it, then those that hold all its words as whole
/// words, then the others; within each group the order is that of the data: by box office, then, where that is unknown,
/// the latest first, then by number.
enum TitleSearch {
  private static let titles = EmbeddedText(csample_movie_titles())

  /// The digits of a record's offset in front of each title; a space follows them, so that each word follows one.
  private static let offsetLength = 7

  private static let space = UInt8(ascii: " ")
  private static let tab = UInt8(ascii: "\t")

  /// The offsets of the records that `query` finds, the best first. It reads through all titles:
  /// 0.05 ms where few are found, 1 ms where thousands are.
  ///
  /// - Throws: `CacheError`: `cancelled`.
  static func offsets(_ query: MovieQuery) throws(CacheError) -> [Int] {
    let words = TextFolding.words(ofFolded: TextFolding.fold(query.text))
    let needles = Set(words).map { Array(" \($0)".utf8) }.sorted { $0.count > $1.count }
    guard let longest = needles.first else { return [] }
    let phrase = Array(words.joined(separator: " ").utf8)

    var groups: [[Int]] = [[], [], [], []]
    var start = 0
    while let hit = titles.firstIndex(of: longest, from: start) {
      let line = titles.startOfLine(hit)..<titles.endOfLine(hit)
      start = line.upperBound
      if let group = group(line, needles: needles, phrase: phrase) {
        if Task.isCancelled { throw .cancelled }
        groups[group].append(titles.number(line.lowerBound..<line.lowerBound + offsetLength) ?? 0)
      }
    }
    return groups.flatMap { $0 }
  }

  /// How good the title in `line` is, 0 the best; `nil` where it lacks a word.
  private static func group(_ line: Range<Int>, needles: [[UInt8]], phrase: [UInt8]) -> Int? {
    let text = titles.bytes[line.lowerBound + offsetLength..<line.upperBound]
    var areWhole = true
    for needle in needles {
      guard let isWhole = find(needle, in: text) else { return nil }
      areWhole = areWhole && isWhole
    }
    guard text.dropFirst().starts(with: phrase) else { return areWhole ? 2 : 3 }
    let rest = text.dropFirst(1 + phrase.count)
    if rest.isEmpty || rest.first == tab { return 0 }
    return rest.first == space ? 1 : areWhole ? 2 : 3
  }

  /// Whether a whole word of `text` is `needle`; `nil` where none even begins with it.
  private static func find(_ needle: [UInt8], in text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool? {
    var found: Bool?
    var rest = text
    while let index = rest.firstIndex(of: space) {
      rest = rest[index...]
      if rest.starts(with: needle) {
        let next = rest.dropFirst(needle.count).first
        if next == nil || next == space || next == tab { return true }
        found = false
      }
      rest = rest.dropFirst()
    }
    return found
  }
}
