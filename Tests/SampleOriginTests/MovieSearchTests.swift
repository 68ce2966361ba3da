import CacheCore
import CacheDomain
import SampleOrigin
import Testing

struct MovieSearchTests {
  struct Case: Sendable {
    let query: String
    let first: String
  }

  /// The first movie that each query finds.
  @Test(arguments: [
    Case(query: "amelie", first: "Amélie"),
    Case(query: "AMÉLIE", first: "Amélie"),
    Case(query: "Ame\u{301}lie", first: "Amélie"),
    Case(query: "les miserables", first: "Les Misérables"),
    Case(query: "star wars clone", first: "Star Wars: The Clone Wars"),
    Case(query: "wa st phantom", first: "Star Wars: Episode I – The Phantom Menace"),
    Case(query: "Star Wars: Episode V - the Empire", first: "Star Wars: Episode V – The Empire Strikes Back"),
    Case(query: "heat", first: "Heat"),
    Case(query: "jaws", first: "Jaws"),
    Case(query: "godfather", first: "The Godfather"),
    Case(query: "oceans eleven", first: "Ocean's Eleven"),
    Case(query: "ocean’s eleven", first: "Ocean's Eleven"),
    Case(query: "walle", first: "WALL-E"),
    Case(query: "wall·e", first: "WALL-E"),
    Case(query: "aeon flux", first: "Æon Flux"),
    Case(query: "8½", first: "8½"),
    Case(query: "8 1/2", first: "8½"),
    Case(query: "$", first: "$"),
    Case(query: "11'09\"01", first: "11'09\"01 September 11"),
    Case(query: "waiting superman", first: "Waiting for \"Superman\""),
    Case(query: "wδz", first: "WΔZ"),
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

  /// Counted in the raw data with a rule of its own: a word of the title begins with the query.
  @Test(arguments: ["war", "love", "9"])
  func pagesCoverAllThatIsFoundOnce(_ query: String) async throws {
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

  @Test func beyondTheLastPageIsAnEmptyAnswer() async throws {
    let first = try await movies("heat")
    let beyond = try await movies("heat", page: 500)
    #expect(
      beyond == MoviesPage(page: 500, totalPages: first.totalPages, totalItems: first.totalItems, movies: []))
  }

  @Test(arguments: [0, -1, 501, Int.max, Int.min])
  func aPageThatCannotBeIsRefused(page: Int) async throws {
    let error = await #expect(throws: CacheError.self) { try await movies("heat", page: page) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "there is no page \(page) of movies")
    #expect(error?.hint == "ask for a page from 1 to 500")
  }

  @Test func aMovieIsWhole() async throws {
    let movie = try #require(try await movies("12 angry men").movies.first)
    #expect(
      movie
        == Movie(
          id: "2345", title: "12 Angry Men",
          overview: "A film of 1957 from the United States (drama), directed by Sidney Lumet, in English. "
            + "It runs for 95 minutes.",
          releaseDate: "1957-04-10", posterPath: "/2345.png", genres: ["Drama"]))
    #expect(try await movies("the intouchables").movies.first?.releaseDate == "2011")
  }
}
