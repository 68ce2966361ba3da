import CacheDomain
import CSampleData
import CZlib
import FetchVocabulary
import Foundation
import Testing

@testable import SampleOrigin

struct MovieDataTests {
  private static let lines = text(csample_movies()).split(separator: "\n").map(String.init)
  private static let titles = text(csample_movie_titles()).split(separator: "\n").map(String.init)

  private static func text(_ text: CSampleText) -> String {
    EmbeddedText(text).string(0..<text.count)
  }

  /// The embedded fields are those of the raw data, in the documented order.
  @Test func theRecordsAreTheRowsOfTheRawData() throws {
    let rows = try RawData.movies().sorted { Self.rank($0).lexicographicallyPrecedes(Self.rank($1)) }
    #expect(rows.count == 17_472)
    try #require(rows.count == Self.lines.count)
    for (row, line) in zip(rows, Self.lines) {
      #expect(line == ([row[0]] + row[2...]).joined(separator: "\t"))
    }
  }

  private static func rank(_ row: [String]) -> [Int] {
    [-(Int(row[6]) ?? 0), -(Int(row[3]) ?? 0), Int(row[0]) ?? 0]
  }

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

  @Test func theVersionIsThatOfTheData() {
    var checksum: UInt = 0
    for text in [csample_cities(), csample_city_orders(), csample_movies(), csample_movie_titles(), csample_folding()] {
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
