import CacheCore
import CacheData
import CacheDomain
import Testing
@testable import SampleOrigin

struct CityOriginTests {
  @Test func theRichestCitiesComeFirst() async throws {
    let page = try await cities()
    #expect(page.page == 0)
    #expect(page.totalPages == 243)
    #expect(page.totalItems == 6_057)
    #expect(page.cities.count == 25)
    let expected = [
      ("DC/WASHINGTON", "WASHINGTON", "DC", 54_298_476_501, 5_939),
      ("KY/LOUISVILLE", "LOUISVILLE", "KY", 13_346_016_068, 1_311),
      ("LA/NEW ORLEANS", "NEW ORLEANS", "LA", 10_218_019_869, 1_143),
      ("UT/SALT LAKE CTY", "SALT LAKE CTY", "UT", 10_217_406_295, 736),
      ("NE/OMAHA", "OMAHA", "NE", 9_800_354_541, 1_114),
    ].map { City(id: $0.0, name: $0.1, subName: $0.2, revenue: $0.3, organizationCount: $0.4) }
    #expect(Array(page.cities.prefix(5)) == expected)
  }

  /// The embedded totals match the raw data: every city, its revenue and its organizations.
  @Test func theTotalsAreTheSumsOfTheRawData() async throws {
    var revenues: [String: Int] = [:]
    var counts: [String: Int] = [:]
    let rows = try RawData.organizations()
    #expect(rows.count == 93_638)
    for row in rows {
      let id = "\(row[3])/\(row[2])"
      revenues[id, default: 0] += try #require(Int(row[6]))
      counts[id, default: 0] += 1
    }
    let all = try await allCities()
    #expect(all.count == revenues.count)
    for city in all {
      #expect(city.revenue == revenues[city.id], "\(city.id)")
      #expect(city.organizationCount == counts[city.id], "\(city.id)")
      #expect(city.id == "\(city.subName ?? "")/\(city.name)")
    }
  }

  @Test(arguments: CityOrder.allCases, SortDirection.allCases)
  func everyOrderHoldsEveryCityOnceAndBreaksTiesById(order: CityOrder, direction: SortDirection) async throws {
    let all = try await allCities(order, direction)
    #expect(Set(all.map(\.id)).count == 6_057)
    for (left, right) in zip(all, all.dropFirst()) {
      #expect(Self.isOrdered(left, right, order, direction), "\(left.id) \(right.id)")
    }
  }

  private static func isOrdered(_ left: City, _ right: City, _ order: CityOrder, _ direction: SortDirection) -> Bool {
    let isEqual: Bool
    let isAscending: Bool
    switch order {
    case .revenue: (isEqual, isAscending) = compare(left.revenue ?? -1, right.revenue ?? -1)
    case .organizations: (isEqual, isAscending) = compare(left.organizationCount ?? -1, right.organizationCount ?? -1)
    case .name: (isEqual, isAscending) = compare(left.name, right.name)
    }
    return isEqual ? left.id < right.id : isAscending == (direction == .ascending)
  }

  private static func compare<Value: Comparable>(_ left: Value, _ right: Value) -> (Bool, Bool) {
    (left == right, left < right)
  }

  @Test func theLastPageHoldsTheRest() async throws {
    #expect(try await cities(page: 242).cities.count == 6_057 - 242 * 25)
  }

  @Test(arguments: [243, 1_000, Int.max]) func aPageBeyondTheLastIsEmpty(page: Int) async throws {
    let answer = try await cities(page: page)
    #expect(answer == CitiesPage(page: page, totalPages: 243, totalItems: 6_057, cities: []))
  }

  @Test(arguments: [-1, Int.min]) func aNegativePageIsRefused(page: Int) async throws {
    let error = await #expect(throws: CacheError.self) { try await cities(page: page) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "there is no page \(page) of cities")
    #expect(error?.hint.isEmpty == false)
  }
}

struct PosterOriginTests {
  @Test(arguments: ["/24871.png", "/2357448.png"], PosterQuery.widths)
  func aPosterIsTheSamePictureInEveryWidth(path: String, width: Int) async throws {
    let poster = try await SamplePosterOrigin().response(to: posterRequest(path, width: width))
    #expect(poster.contentType == "image/png")
    #expect(poster.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    #expect(poster.bytes.suffix(8).starts(with: Array("IEND".utf8)))
    #expect(try await SamplePosterOrigin().response(to: posterRequest(path, width: 92)) == poster)
  }

  @Test func moviesShareThreePictures() async throws {
    var seen: Set<[UInt8]> = []
    for movie in try await movies("hamlet").movies {
      let path = try #require(movie.posterPath)
      seen.insert(try await SamplePosterOrigin().response(to: posterRequest(path)).bytes)
    }
    #expect(seen.count == 3)
  }

  @Test(arguments: ["/0.png", "/.png", "/24871", "/24871.jpg", "/../24871.png", "/٣.png", "/24871\t.png", "/"])
  func anUnknownPathIsNotFound(path: String) async throws {
    let error = await #expect(throws: CacheError.self) {
      try await SamplePosterOrigin().response(to: posterRequest(path))
    }
    #expect(error?.code == .notFound)
    #expect(error?.message == "the sample has no poster \(path)")
    #expect(error?.hint.isEmpty == false)
  }
}

struct ValidatorTests {
  private static let cityRequests = [
    CitiesQuery(), CitiesQuery(page: 1), CitiesQuery(order: .name), CitiesQuery(direction: .ascending),
  ].map { CitiesRequestDTO(origin: "sample", query: $0) }

  @Test func theOriginsAreCalledSample() {
    #expect(SampleCityOrigin().name == "sample")
    #expect(SampleMovieOrigin().name == "sample")
    #expect(SamplePosterOrigin().name == "sample")
  }

  @Test func aClientThatHasTheResponseGetsNotModified() async throws {
    try await isConfirmed(SampleCityOrigin(), CitiesRequestDTO(origin: "sample", query: CitiesQuery()))
    try await isConfirmed(SampleMovieOrigin(), moviesRequest("heat"))
    try await isConfirmed(SamplePosterOrigin(), posterRequest("/24871.png"))
  }

  private func isConfirmed<Origin: ResponseOrigin>(_ origin: Origin, _ request: Origin.Request) async throws {
    let validator = try await origin.validator(of: request)
    #expect(validator.hasPrefix("\"sample-2026-10-18-"))
    let confirmation = try await origin.answer(to: request, conditions: ["If-None-Match": validator])
    #expect(confirmation.head.status == 304)
    #expect(confirmation.response == nil)
    let answer = try await origin.answer(to: request, conditions: ["If-None-Match": "\"sample-2020-01-01\""])
    #expect(answer.head.status == 200)
    #expect(answer.head.fields["etag"] == validator)
    #expect(answer.response != nil)
  }

  @Test func validatorsDifferFromRequestToRequest() async throws {
    var validators: Set<String> = []
    for request in Self.cityRequests { validators.insert(try await SampleCityOrigin().validator(of: request)) }
    #expect(validators.count == Self.cityRequests.count)
  }

  /// A request that is wrong stays wrong, whatever validator comes with it.
  @Test func aWrongRequestIsRefusedWithAnyValidator() async throws {
    let validator = try await SamplePosterOrigin().validator(of: posterRequest("/24871.png"))
    await #expect(throws: CacheError.self) {
      try await SamplePosterOrigin().answer(to: posterRequest("/0.png"), conditions: ["If-None-Match": validator])
    }
  }

  @Test func aCancelledTaskGetsNoAnswer() async throws {
    try await isCancelled(SampleCityOrigin(), CitiesRequestDTO(origin: "sample", query: CitiesQuery()))
    try await isCancelled(SampleMovieOrigin(), moviesRequest("heat"))
    try await isCancelled(SamplePosterOrigin(), posterRequest("/24871.png"))
  }

  private func isCancelled<Origin: ResponseOrigin>(_ origin: Origin, _ request: Origin.Request) async throws {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await origin.response(to: request)
    }
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }
}

extension ResponseOrigin {
  /// The response to `request` from an empty cache.
  func response(to request: Request) async throws -> Response {
    guard let response = try await answer(to: request, conditions: [:]).response else { throw NoAnswer() }
    return response
  }

  /// The validator of the response to `request`.
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
