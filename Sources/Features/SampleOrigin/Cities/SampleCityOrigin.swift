internal import CacheDomain
public import CacheData

/// The bundled cities: 6,057 cities of the US with the total revenue of their tax-exempt organisations.
///
/// Unlike the public API it knows every city's revenue and really orders by it. The identifier breaks ties, ascending
/// in both directions. A city's identifier is its state and name, such as `KY/LOUISVILLE`.
public struct SampleCityOrigin: CityOrigin {
  /// The number of cities on a page; the last page has the rest.
  public static let pageSize = 25

  /// The origin's name, "sample".
  public var name: String { SampleVersion.origin }

  /// True: the sample is part of the program.
  public var isInProcess: Bool { true }

  /// The origin. It has no state and costs nothing.
  public init() {}

  /// The page for `request`; beyond the last page an empty one with the totals.
  ///
  /// Reads only the rows of that page, which takes some microseconds, and does not suspend.
  ///
  /// - Throws: `CacheError`: `invalidRequest` for a negative page, `cancelled`.
  public func answer(
    to request: CitiesRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    guard request.query.page >= 0 else {
      throw CacheError(
        .invalidRequest, "there is no page \(request.query.page) of cities", hint: "pages of cities begin at 0")
    }
    return try SampleAnswer.to(request, conditions) { CitiesPageDTO(page(request.query)) }
  }

  private func page(_ query: CitiesQuery) -> CitiesPage {
    let total = CityTable.count
    let totalPages = (total + Self.pageSize - 1) / Self.pageSize
    let first = min(query.page, totalPages) * Self.pageSize
    let positions = min(first, total)..<min(first + Self.pageSize, total)
    return CitiesPage(
      page: query.page, totalPages: totalPages, totalItems: total,
      cities: positions.compactMap { CityTable.city(at: $0, order: query.order, direction: query.direction) })
  }
}
