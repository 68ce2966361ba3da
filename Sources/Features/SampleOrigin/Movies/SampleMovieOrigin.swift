internal import CacheDomain
public import CacheData
internal import CSampleData

/// The bundled movies: 17,472 movies of the years 1940 to 2014, searched by the words of their titles.
///
/// Every word of the query must begin a word of the title; case, diacritics and punctuation do not matter. The best
/// come first: titles equal to the query, titles that begin with it, titles with its words as whole words, then the
/// others. Within each group higher box office comes first, then later movies.
public struct SampleMovieOrigin: MovieOrigin {
  /// The number of movies on a page; the last page has the rest.
  public static let pageSize = 20

  /// The origin's name, "sample".
  public var name: String { SampleVersion.origin }

  /// True: the sample is part of the program.
  public var isInProcess: Bool { true }

  /// The origin. It has no state and costs nothing.
  public init() {}

  /// The page for `request`; beyond the last page an empty one with the totals.
  ///
  /// Searches all titles each time, which usually takes well under a millisecond, and does not suspend.
  ///
  /// - Throws: `CacheError`: `invalidRequest` for a page outside `MoviesRequestDTO.pages`, `cancelled`.
  public func answer(
    to request: MoviesRequestDTO, conditions: HTTP.Fields
  ) async throws(CacheError) -> OriginAnswer<MoviesPageDTO> {
    try request.checkPage()
    return try SampleAnswer.to(request, conditions) { () throws(CacheError) in
      MoviesPageDTO(page(request.page, of: try TitleSearch.offsets(request.query)))
    }
  }

  private func page(_ page: Int, of offsets: [Int]) -> MoviesPage {
    let movies = offsets.dropFirst((page - 1) * Self.pageSize).prefix(Self.pageSize)
      .compactMap { MovieTable.record(at: $0)?.movie }
    return MoviesPage(
      page: page, totalPages: (offsets.count + Self.pageSize - 1) / Self.pageSize, totalItems: offsets.count,
      movies: movies)
  }
}

/// The embedded movies, the best known first.
enum MovieTable {
  private static let records = EmbeddedText(csample_movies())

  /// The record whose line begins at `offset`; `nil` if none does.
  static func record(at offset: Int) -> MovieRecord? {
    guard (0..<records.count).contains(offset) else { return nil }
    return MovieRecord(line: records.string(offset..<records.endOfLine(offset)))
  }

  /// The record of the movie `id`; `nil` if there is none. Scans all records, which takes half a millisecond at worst.
  static func record(id: String) -> MovieRecord? {
    if records.bytes.starts(with: "\(id)\t".utf8) { return record(at: 0) }
    return records.firstIndex(of: Array("\n\(id)\t".utf8), in: 0..<records.count).flatMap { record(at: $0 + 1) }
  }
}

/// The embedded data of a movie: one line, split at the tabs.
struct MovieRecord: Sendable, Hashable {
  /// The number of the Wikidata item.
  let id: String
  let title: String
  /// The year of release.
  let year: String
  /// The day of release; empty if only the year is known.
  let releaseDate: String
  let genres: [String]
  /// Its box office, usually in US dollars; `nil` if unknown.
  let boxOffice: Int?
  /// Its running time in minutes; `nil` if unknown.
  let runtime: Int?
  let directors: [String]
  let languages: [String]
  let countries: [String]

  /// The record in `line`; `nil` if the line does not have ten fields.
  init?(line: String) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 10 else { return nil }
    id = fields[0]
    title = fields[1]
    year = fields[2]
    releaseDate = fields[3]
    genres = fields[4].split(separator: "|").map(String.init)
    boxOffice = Int(fields[5])
    runtime = Int(fields[6])
    directors = Self.names(fields[7])
    languages = Self.names(fields[8])
    countries = Self.names(fields[9])
  }

  /// The movie for this record, with an overview made of its facts.
  var movie: Movie {
    let date = releaseDate.isEmpty ? year : releaseDate
    return Movie(
      id: id, title: title, overview: MovieOverview.text(of: self), releaseDate: date.isEmpty ? nil : date,
      posterPath: "/\(id).png", genres: genres)
  }

  /// Names separated by a comma and a space. The "Jr." in "George Tillman, Jr." is not a separate name.
  private static func names(_ field: String) -> [String] {
    var names: [String] = []
    for name in field.split(separator: ",") {
      let name = String(name.drop { $0 == " " })
      if let last = names.last, name == "Jr." || name == "Sr." {
        names[names.count - 1] = "\(last), \(name)"
      } else {
        names.append(name)
      }
    }
    return names
  }
}

/// Describes a movie in a sentence or two, from the data alone.
enum MovieOverview {
  /// The overview of `record`, such as "A film of 1957 from the United States (drama), directed by Sidney Lumet, in
  /// English. It runs for 95 minutes." Unknown facts are left out.
  static func text(of record: MovieRecord) -> String {
    [firstSentence(record), secondSentence(record)].compactMap { $0 }.joined(separator: " ")
  }

  private static func firstSentence(_ record: MovieRecord) -> String {
    var text = record.year.isEmpty ? "A film" : "A film of \(record.year)"
    if let countries = list(record.countries.map(withArticle), more: "countries") { text += " from \(countries)" }
    if !record.genres.isEmpty { text += " (\(record.genres.map(genre).joined(separator: ", ")))" }
    if let directors = list(record.directors, more: "people") { text += ", directed by \(directors)" }
    if let languages = list(record.languages.map(language), more: "languages") { text += ", in \(languages)" }
    return text + (text.hasSuffix(".") ? "" : ".")
  }

  private static func secondSentence(_ record: MovieRecord) -> String? {
    let runtime = record.runtime.map { "runs for \($0) \($0 == 1 ? "minute" : "minutes")" }
    let boxOffice = record.boxOffice.map { "earned $\(grouped($0)) at the box office" }
    let facts = [runtime, boxOffice].compactMap { $0 }
    return facts.isEmpty ? nil : "It \(facts.joined(separator: " and "))."
  }

  /// "A", "A and B", "A, B and C", "A, B, C and 24 other people"; `nil` for none.
  private static func list(_ names: [String], more: String) -> String? {
    guard let last = names.last else { return nil }
    if names.count == 1 { return last }
    if names.count <= 4 { return "\(names.dropLast().joined(separator: ", ")) and \(last)" }
    return "\(names.prefix(3).joined(separator: ", ")) and \(names.count - 3) other \(more)"
  }

  /// The name of a country for use after "from".
  private static func withArticle(_ country: String) -> String {
    if country.hasPrefix("The ") { return "the \(country.dropFirst(4))" }
    let words = country.split(separator: " ")
    let takesArticle = words.contains { articleWords.contains(String($0)) }
    return takesArticle ? "the \(country)" : country
  }

  private static let articleWords: Set<String> = [
    "United", "Republic", "Kingdom", "Union", "Netherlands", "Philippines", "SSR", "Occupied",
  ]

  /// The name of a language for use after "in". Some names in the data are like "Kurdish language" or "multiple
  /// languages".
  private static func language(_ name: String) -> String {
    if name == "artistic language" { return "an artistic language" }
    return name.hasSuffix(" language") ? String(name.dropLast(" language".count)) : name
  }

  private static func genre(_ name: String) -> String {
    name == "Sci-Fi" ? "science fiction" : name.lowercased()
  }

  /// A number with commas between thousands.
  private static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0 && index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
