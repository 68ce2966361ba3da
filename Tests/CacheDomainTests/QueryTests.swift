import CacheDomain
import Testing

struct QueryTests {
  @Test(arguments: [
    (CityOrder.revenue, SortDirection.descending), (.organizations, .descending), (.name, .ascending),
  ])
  func citiesAreSortedInTheDirectionThatPeopleExpect(order: CityOrder, direction: SortDirection) {
    #expect(CitiesQuery(order: order).direction == direction)
    for given in SortDirection.allCases { #expect(CitiesQuery(order: order, direction: given).direction == given) }
  }

  @Test func theFirstPageOfTheCitiesOfLargestRevenueIsTheDefault() {
    #expect(CitiesQuery() == CitiesQuery(order: .revenue, direction: .descending, page: 0))
    #expect(CitiesQuery(page: 3).page == 3)
  }

  @Test func namesOfOrdersAndDirectionsAreThoseOfTheKeys() {
    #expect(CityOrder.allCases.map(\.rawValue) == ["revenue", "organizations", "name"])
    #expect(SortDirection.allCases.map(\.rawValue) == ["asc", "desc"])
    #expect(
      FetchPolicy.allCases.map(\.rawValue) == ["cache-first", "cached-then-network", "network-only", "cache-only"])
  }

  @Test(arguments: [
    ("batman", "batman"), ("  batman  ", "batman"), ("the\t dark\n\nknight", "the dark knight"),
    ("\u{A0}a\u{3000}b\u{2028}", "a b"), ("Ünter Über", "Ünter Über"), ("a\r\nb", "a b"), ("0", "0"),
  ])
  func whiteSpaceOfMovieQueriesIsNormalised(text: String, expected: String) throws {
    let query = try #require(MovieQuery(text))
    #expect(query.text == expected)
    #expect(MovieQuery(query.text) == query)
  }

  @Test(arguments: ["", " ", "\t\n\r\n", "\u{3000}\u{A0}"])
  func aMovieQueryHoldsMoreThanWhiteSpace(text: String) {
    #expect(MovieQuery(text) == nil)
  }

  @Test(arguments: [
    (92, 92), (154, 154), (185, 185), (342, 342), (500, 500), (780, 780), (0, 92), (-1, 92), (122, 92), (123, 154),
    (124, 154), (169, 154), (170, 185), (263, 185), (264, 342), (420, 342), (421, 500), (422, 500), (639, 500),
    (640, 780), (781, 780), (Int.max, 780), (Int.min, 92), (Int.min + 100, 92),
  ])
  func postersComeInTheNearestWidthAndTheLargerOfTwo(asked: Int, width: Int) {
    #expect(PosterQuery(path: "/a.png", width: asked).width == width)
  }

  @Test(arguments: [("/a.png", "/a.png"), ("a.png", "/a.png"), ("", "/"), ("//a", "//a")])
  func pathsOfPostersBeginWithASlash(path: String, expected: String) {
    #expect(PosterQuery(path: path).path == expected)
    #expect(PosterQuery(path: path).width == 342)
  }
}
