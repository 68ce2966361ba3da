import Testing

@testable import SampleOrigin

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
    Case(fields: "2000|||||||", overview: "A film of 2000."),
    Case(fields: "|||||||", overview: "A film."),
    Case(fields: "1999|||7||||", overview: "A film of 1999. It earned $7 at the box office."),
    Case(fields: "1999||||1|||", overview: "A film of 1999. It runs for 1 minute."),
    Case(fields: "1999|||1000||||", overview: "A film of 1999. It earned $1,000 at the box office."),
    Case(
      fields: "1999|||||A B, C, D, E, F||", overview: "A film of 1999, directed by A B, C, D and 2 other people."),
    Case(
      fields: "1999|||||George Tillman, Jr.||", overview: "A film of 1999, directed by George Tillman, Jr."),
    Case(
      fields: "1999||||||Kurdish language, multiple languages|The Bahamas, Netherlands, People's Republic of China",
      overview: "A film of 1999 from the Bahamas, the Netherlands and the People's Republic of China, "
        + "in Kurdish and multiple languages."),
  ])
  func theOverviewSaysWhatIsKnown(_ example: Case) throws {
    let fields = example.fields.replacing("|", with: "\t").replacing("/", with: "|")
    let record = try #require(MovieRecord(line: "1\tTitle\t\(fields)"))
    #expect(MovieOverview.text(of: record) == example.overview)
  }

  @Test func aLineWithAFieldTooFewIsNoRecord() {
    #expect(MovieRecord(line: "1\tTitle\t1999") == nil)
  }
}
