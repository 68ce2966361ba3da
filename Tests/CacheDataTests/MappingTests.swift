import CacheData
import CacheDomain
import Foundation
import Testing

struct MappingTests {
  private static let cities = [
    City(id: "KY/LOUISVILLE", name: "Louisville", subName: "KY", revenue: 12, organizationCount: 3),
    City(id: "?", name: "São \"Paulo\" / 東京", subName: nil, revenue: nil, organizationCount: nil),
    City(id: "", name: "", subName: "", revenue: .max, organizationCount: 0),
    City(id: "x", name: "x", subName: "x", revenue: .min, organizationCount: .max),
  ]

  private static let movies = [
    Movie(
      id: "7", title: "Amélie", overview: "She\nhelps.", releaseDate: "2001-04-25", posterPath: "/7.png",
      genres: ["Comedy", "Romance"]),
    Movie(id: "", title: "", overview: nil, releaseDate: nil, posterPath: nil, genres: []),
    Movie(id: "8", title: "\u{1F3AC}\u{0}", overview: "", releaseDate: "1999", posterPath: "", genres: [""]),
  ]

  private func throughJSON<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  @Test(arguments: 0...4)
  func pagesOfCitiesComeBack(count: Int) throws {
    let page = CitiesPage(page: count, totalPages: 9, totalItems: 99, cities: Array(Self.cities.prefix(count)))
    #expect(CitiesPageDTO(page).toDomain() == page)
    #expect(try throughJSON(CitiesPageDTO(page)).toDomain() == page)
  }

  @Test(arguments: 0...3)
  func pagesOfMoviesComeBack(count: Int) throws {
    let page = MoviesPage(page: count, totalPages: 9, totalItems: 99, movies: Array(Self.movies.prefix(count)))
    #expect(MoviesPageDTO(page).toDomain() == page)
    #expect(try throughJSON(MoviesPageDTO(page)).toDomain() == page)
  }

  @Test func storedNamesAreTheOnesThatNativeToolsDocument() throws {
    let cities = CitiesPage(page: 1, totalPages: 2, totalItems: 3, cities: [Self.cities[0]])
    #expect(
      try keys(CitiesPageDTO(cities)) == [
        "items", "items.id", "items.name", "items.organizationCount", "items.revenue", "items.subName", "page",
        "totalItems", "totalPages",
      ])
    let movies = MoviesPage(page: 1, totalPages: 2, totalItems: 3, movies: [Self.movies[0]])
    #expect(
      try keys(MoviesPageDTO(movies)) == [
        "items", "items.genres", "items.id", "items.overview", "items.posterPath", "items.releaseDate", "items.title",
        "page", "totalItems", "totalPages",
      ])
  }

  /// The names in the JSON of `value`, including those of its items.
  private func keys(_ value: some Encodable) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any]
    let item = (object?["items"] as? [[String: Any]])?.first ?? [:]
    return (try #require(object).keys.map(\.self) + item.keys.map { "items.\($0)" }).sorted()
  }
}
