import CacheCore
import CacheDomain
import SampleOrigin
import Testing

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

  /// The embedded totals are those of the raw data: every city, its revenue and its organisations.
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

  @Test(arguments: [243, 1_000, Int.max])
  func beyondTheLastPageIsAnEmptyAnswer(page: Int) async throws {
    let answer = try await cities(page: page)
    #expect(answer == CitiesPage(page: page, totalPages: 243, totalItems: 6_057, cities: []))
  }

  @Test(arguments: [-1, Int.min])
  func aNegativePageIsRefused(page: Int) async throws {
    let error = await #expect(throws: CacheError.self) { try await cities(page: page) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "there is no page \(page) of cities")
    #expect(error?.hint.isEmpty == false)
  }
}
