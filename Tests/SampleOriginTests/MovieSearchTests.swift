import CSampleData
import CZlib
import CacheCore
import CacheDomain
import FetchVocabulary
import Foundation
import Testing
@testable import SampleOrigin

struct MovieSearchTests {
  struct Case: Sendable {
    let query: String
    let first: String
  }

  /// The first movie that each query finds.
  @Test(arguments: [
    Case(query: "amelie", first: "Amélie"), Case(query: "AMÉLIE", first: "Amélie"),
    Case(query: "Ame\u{301}lie", first: "Amélie"), Case(query: "les miserables", first: "Les Misérables"),
    Case(query: "star wars clone", first: "Star Wars: The Clone Wars"),
    Case(query: "wa st phantom", first: "Star Wars: Episode I – The Phantom Menace"),
    Case(query: "Star Wars: Episode V - the Empire", first: "Star Wars: Episode V – The Empire Strikes Back"),
    Case(query: "heat", first: "Heat"), Case(query: "jaws", first: "Jaws"),
    Case(query: "godfather", first: "The Godfather"), Case(query: "oceans eleven", first: "Ocean's Eleven"),
    Case(query: "ocean’s eleven", first: "Ocean's Eleven"), Case(query: "walle", first: "WALL-E"),
    Case(query: "wall·e", first: "WALL-E"), Case(query: "aeon flux", first: "Æon Flux"), Case(query: "8½", first: "8½"),
    Case(query: "8 1/2", first: "8½"), Case(query: "$", first: "$"),
    Case(query: "11'09\"01", first: "11'09\"01 September 11"),
    Case(query: "waiting superman", first: "Waiting for \"Superman\""), Case(query: "wδz", first: "WΔZ"),
    Case(query: "ｔｉｔａｎｉｃ", first: "Titanic"),
  ])
  func findsByTheWordsOfTheTitle(_ example: Case) async throws {
    let page = try await movies(example.query)
    #expect(page.movies.first?.title == example.first, "\(page.movies.prefix(5).map(\.title))")
  }

  @Test(arguments: [
    "zzzzz", "tar wars", "🎬", "???", "|", "star zzzzz", "звёздные войны", "千と千尋の神隠し", "\u{0}",
    String(repeating: "heat ", count: 2_000) + "zzzzz", String(repeating: "é", count: 10_000),
  ])
  func findsNothing(_ query: String) async throws {
    #expect(try await movies(query) == MoviesPage(page: 1, totalPages: 0, totalItems: 0, movies: []))
  }

  @Test func theSameWordAgainAndAgainIsStillThatWord() async throws {
    let again = try await movies(String(repeating: "titanic ", count: 10_000))
    #expect(try await again.movies.map(\.id).sorted() == movies("titanic").movies.map(\.id).sorted())
  }

  @Test func theBestComeFirst() async throws {
    let titles = try await movies("hamlet").movies.map(\.title)
    #expect(titles.prefix(5) == ["Hamlet", "Hamlet", "Hamlet", "Hamlet", "Hamlet"])
    #expect(titles.count > 5)
    let wars = try await movies("star wars").movies.map(\.title)
    #expect(wars.first == "Star Wars: Episode I – The Phantom Menace")
  }

  /// Counted in the raw data with a separate rule: a word of the title begins with the query.
  @Test(arguments: ["war", "love", "9"]) func pagesCoverAllThatIsFoundOnce(_ query: String) async throws {
    let expected = try RawData.movies().filter { row in
      row[2].lowercased().split(whereSeparator: \.isWhitespace).contains { chunk in
        chunk.split { !$0.isLetter && !$0.isNumber }.contains { $0.hasPrefix(query) }
      }
    }
    let first = try await movies(query)
    var found = first.movies
    for page in 2..<first.totalPages + 1 { found += try await movies(query, page: page).movies }
    #expect(found.count == first.totalItems)
    #expect(Set(found.map(\.id)).count == found.count)
    #expect(Set(expected.map { $0[0] }).isSubset(of: Set(found.map(\.id))))
    #expect(found.count <= expected.count + expected.count / 20 + 5)
  }

  @Test func aPageBeyondTheLastIsEmpty() async throws {
    let first = try await movies("heat")
    let beyond = try await movies("heat", page: 500)
    #expect(beyond == MoviesPage(page: 500, totalPages: first.totalPages, totalItems: first.totalItems, movies: []))
  }

  @Test(arguments: [0, -1, 501, Int.max, Int.min]) func aPageThatCannotBeIsRefused(page: Int) async throws {
    let error = await #expect(throws: CacheError.self) { try await movies("heat", page: page) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "there is no page \(page) of movies")
    #expect(error?.hint == "ask for a page from 1 to 500")
  }

  @Test func aMovieHasAllItsMembers() async throws {
    let movie = try #require(try await movies("12 angry men").movies.first)
    #expect(
      movie
        == Movie(
          id: "2345", title: "12 Angry Men",
          overview: "A film of 1957 from the United States (drama), directed by Sidney Lumet, in English. "
            + "It runs for 95 minutes.", releaseDate: "1957-04-10", posterPath: "/2345.png", genres: ["Drama"]))
    #expect(try await movies("the intouchables").movies.first?.releaseDate == "2011")
  }
}

struct MovieOverviewTests {
  struct Case: Sendable {
    let fields: String
    let overview: String
  }

  /// Year, day, genres, box office, minutes, directors, languages, countries.
  @Test(arguments: [
    Case(
      fields: "1957|1957-04-10|Drama||95|Sidney Lumet|English|United States",
      overview: "A film of 1957 from the United States (drama), directed by Sidney Lumet, in English. "
        + "It runs for 95 minutes."),
    Case(
      fields: "2011||Biography/Sci-Fi|426588510|112|Olivier Nakache, Éric Toledano|French|France",
      overview: "A film of 2011 from France (biography, science fiction), directed by Olivier Nakache and "
        + "Éric Toledano, in French. It runs for 112 minutes and earned $426,588,510 at the box office."),
    Case(fields: "2000|||||||", overview: "A film of 2000."), Case(fields: "|||||||", overview: "A film."),
    Case(fields: "1999|||7||||", overview: "A film of 1999. It earned $7 at the box office."),
    Case(fields: "1999||||1|||", overview: "A film of 1999. It runs for 1 minute."),
    Case(fields: "1999|||1000||||", overview: "A film of 1999. It earned $1,000 at the box office."),
    Case(fields: "1999|||||A B, C, D, E, F||", overview: "A film of 1999, directed by A B, C, D and 2 other people."),
    Case(fields: "1999|||||George Tillman, Jr.||", overview: "A film of 1999, directed by George Tillman, Jr."),
    Case(
      fields: "1999||||||Kurdish language, multiple languages|The Bahamas, Netherlands, People's Republic of China",
      overview: "A film of 1999 from the Bahamas, the Netherlands and the People's Republic of China, "
        + "in Kurdish and multiple languages."),
  ])
  func theOverviewShowsTheKnownFacts(_ example: Case) throws {
    let fields = example.fields.replacing("|", with: "\t").replacing("/", with: "|")
    let record = try #require(MovieRecord(line: "1\tTitle\t\(fields)"))
    #expect(MovieOverview.text(of: record) == example.overview)
  }

  @Test func aLineWithAMissingFieldIsNotARecord() { #expect(MovieRecord(line: "1\tTitle\t1999") == nil) }
}

struct TextFoldingTests {
  @Test(arguments: [
    ("Amélie", "amelie"), ("Łódź", "lodz"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("ẞ", "ss"),
    ("Ørsted Đorđe Þór Ðað", "orsted dorde thor dad"), ("Œuvre Æon", "oeuvre aeon"), ("İstanbul ı", "istanbul i"),
    ("Ёлка Йод", "елка иод"), ("ΑΘΉΝΑ ς", "αθηνα σ"), ("Cafe\u{301}", "cafe"), ("ﬁlm Ⅻ ²", "film xii 2"),
    ("½", " 1\u{2044}2"), ("千と千尋", "千と千尋"), ("한국", "한국"), ("हिन्दी", "हिन्दी"), ("🎬", "🎬"), ("", ""),
  ])
  func folds(text: String, folded: String) {
    #expect(TextFolding.fold(text).unicodeScalars.elementsEqual(folded.unicodeScalars), "\(TextFolding.fold(text))")
  }

  @Test(arguments: [
    ("star wars: episode v", ["star", "wars", "episode", "v"]), ("l'avventura", ["l", "avventura"]),
    ("$9.99", ["9", "99"]), ("$", ["$"]), ("", []), ("हिन्दी", ["हिन्दी"]), ("千と・千尋", ["千と", "千尋"]),
  ])
  func splitsIntoWords(text: String, words: [String]) { #expect(TextFolding.words(ofFolded: text) == words) }

  /// Letters with diacritics of the Latin blocks fold as the platform's own folding has it.
  @Test func agreesWithThePlatform() throws {
    for code in UInt32(0xC0)..<0x180 {
      let scalar = try #require(Unicode.Scalar(code))
      let text = String(scalar)
      let expected = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      if expected.unicodeScalars.allSatisfy(\.isASCII) { #expect(TextFolding.fold(text) == expected, "\(text)") }
    }
  }

  /// Every row of the table is found, and folding is idempotent.
  @Test func everyRowOfTheTableIsFound() throws {
    let table = EmbeddedText(csample_folding())
    let rows = table.string(0..<table.count).unicodeScalars.split(separator: "\n")
    #expect(rows.count > 7_000)
    for row in rows {
      let folded = String(row.dropFirst(2))
      #expect(TextFolding.fold(String(row.prefix(1))).unicodeScalars.elementsEqual(folded.unicodeScalars), "\(row)")
      #expect(TextFolding.fold(folded).unicodeScalars.elementsEqual(folded.unicodeScalars), "\(row)")
    }
  }
}

struct MovieDataTests {
  private static let lines = text(csample_movies()).split(separator: "\n").map(String.init)
  private static let titles = text(csample_movie_titles()).split(separator: "\n").map(String.init)

  private static func text(_ text: CSampleText) -> String { EmbeddedText(text).string(0..<text.count) }

  /// The embedded fields match the raw data, in the documented order.
  @Test func theRecordsAreTheRowsOfTheRawData() throws {
    let rows = try RawData.movies().sorted { Self.rank($0).lexicographicallyPrecedes(Self.rank($1)) }
    #expect(rows.count == 17_472)
    try #require(rows.count == Self.lines.count)
    for (row, line) in zip(rows, Self.lines) { #expect(line == ([row[0]] + row[2...]).joined(separator: "\t")) }
  }

  private static func rank(_ row: [String]) -> [Int] { [-(Int(row[6]) ?? 0), -(Int(row[3]) ?? 0), Int(row[0]) ?? 0] }

  @Test func everyTitleLeadsToItsRecordAndIsFoldedAsAQueryIs() throws {
    try #require(Self.titles.count == Self.lines.count)
    var offset = 0
    for (title, line) in zip(Self.titles, Self.lines) {
      #expect(Int(title.prefix(7)) == offset)
      let record = try #require(MovieTable.record(at: offset))
      let words = TextFolding.words(ofFolded: TextFolding.fold(record.title)).joined(separator: " ")
      #expect(title.dropFirst(8).split(separator: "\t").first.map(String.init) == words)
      offset += line.utf8.count + 1
    }
  }

  @Test func everyRecordBecomesAMovie() throws {
    var ids: Set<String> = []
    let yearOrDay = try Regex("^[0-9]{4}(-[0-9]{2}-[0-9]{2})?$")
    for line in Self.lines {
      let record = try #require(MovieRecord(line: line))
      let movie = record.movie
      ids.insert(movie.id)
      #expect(Int(movie.id) != nil && !movie.title.isEmpty)
      #expect(movie.posterPath == "/\(movie.id).png")
      let date = try #require(movie.releaseDate)
      #expect(date.contains(yearOrDay), "\(date)")
      #expect(!movie.genres.contains(""))
      #expect(Self.isWellFormed(try #require(movie.overview)), "\(movie.overview ?? "")")
    }
    #expect(ids.count == 17_472)
  }

  private static func isWellFormed(_ overview: String) -> Bool {
    let flaws = ["  ", " ,", " .", "..", "()", "(,", ", ,", ",.", "in .", "from ,", "Optional", "\t", " and and "]
    let hasFlaw = flaws.contains { strstr(overview, $0) != nil }
    return overview.hasPrefix("A film of ") && overview.hasSuffix(".") && !hasFlaw
  }

  @Test func theVersionIsTheVersionOfTheData() {
    var checksum: UInt = 0
    for text in [csample_cities(), csample_movies(), csample_movie_titles(), csample_folding()] {
      checksum = crc32(checksum, text.bytes, UInt32(text.count))
    }
    #expect(Self.text(csample_version()) == "2026-10-18-\(String(format: "%08x", checksum))")
  }

  @Test func aRecordIsFoundByItsWholeNumberOnly() {
    #expect(MovieTable.record(id: "24871")?.title == "Avatar")
    #expect(MovieTable.record(id: "2345")?.title == "12 Angry Men")
    #expect(MovieTable.record(id: "4871")?.title != "Avatar")
    #expect(MovieTable.record(id: "0") == nil)
    #expect(MovieTable.record(at: 1_000_000_000) == nil)
  }
}

/// The raw files that the embedded data is derived from.
enum RawData {
  /// The rows of organizations: `ein,name,city,state,ntee_code,subsection,revenue,tax_period`.
  static func organizations() throws -> [[String]] { try rows("organizations.csv.gz") }

  /// The rows of movies:
  /// `id,imdb_id,title,year,release_date,genres,box_office,runtime_min,director,language,country`.
  static func movies() throws -> [[String]] { try allMovies.get() }

  private static let allMovies = Result { try rows("movies.csv.gz") }

  struct CannotRead: Error { let path: String }

  private static func rows(_ name: String) throws -> [[String]] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Data")
    return CSV.rows(try inflated(folder.appendingPathComponent(name).path)).dropFirst().map { $0 }
  }

  private static func inflated(_ path: String) throws -> [UInt8] {
    guard let file = gzopen(path, "rb") else { throw CannotRead(path: path) }
    defer { gzclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = gzread(file, &buffer, UInt32(buffer.count))
      if count < 0 { throw CannotRead(path: path) }
      if count == 0 { return bytes }
      bytes += buffer[..<Int(count)]
    }
  }
}

/// Reads comma-separated values as RFC 4180 describes them.
enum CSV {
  static func rows(_ bytes: [UInt8]) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\"") where isQuoted && index < bytes.count && bytes[index] == byte:
        field.append(byte)
        index += 1
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted, UInt8(ascii: "\n") where !isQuoted:
        row.append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
        if byte == UInt8(ascii: "\n") {
          rows.append(row)
          row = []
        }
      default: field.append(byte)
      }
    }
    return rows
  }
}
