import CacheData
import CacheDomain
import SampleOrigin
import Testing

extension ResponseOrigin {
  /// The answer to `request` from a cache that has nothing.
  func response(to request: Request) async throws -> Response {
    guard let response = try await answer(to: request, conditions: [:]).response else { throw NoAnswer() }
    return response
  }

  /// The validator of the answer to `request`.
  func validator(of request: Request) async throws -> String {
    guard let tag = try await answer(to: request, conditions: [:]).head.fields["etag"] else { throw NoAnswer() }
    return tag
  }
}

struct NoAnswer: Error {}

func cities(_ order: CityOrder = .revenue, _ direction: SortDirection? = nil, page: Int = 0) async throws -> CitiesPage
{
  let query = CitiesQuery(order: order, direction: direction, page: page)
  return try await SampleCityOrigin().response(to: CitiesRequestDTO(origin: "sample", query: query)).toDomain()
}

func allCities(_ order: CityOrder = .revenue, _ direction: SortDirection? = nil) async throws -> [City] {
  var all: [City] = []
  for page in 0..<243 { all += try await cities(order, direction, page: page).cities }
  return all
}

func moviesRequest(_ text: String, page: Int = 1) throws -> MoviesRequestDTO {
  MoviesRequestDTO(origin: "sample", query: try #require(MovieQuery(text)), page: page)
}

func movies(_ text: String, page: Int = 1) async throws -> MoviesPage {
  try await SampleMovieOrigin().response(to: moviesRequest(text, page: page)).toDomain()
}

func posterRequest(_ path: String, width: Int = 342) -> PosterRequestDTO {
  PosterRequestDTO(origin: "sample", query: PosterQuery(path: path, width: width))
}
