// The vocabulary of fetches is part of the use cases' interface.
@_exported public import FetchVocabulary

/// A city, with the revenue of all its organizations.
public struct City: Sendable, Hashable, Identifiable {
  /// The city's identifier, unique within its origin.
  public let id: String
  /// The city's name, as its origin writes it.
  public let name: String
  /// The state; `nil` if the origin does not know it.
  public let subName: String?
  /// The total yearly revenue of its organizations in whole US dollars; `nil` if the origin does not know it.
  public let revenue: Int?
  /// The number of organizations; `nil` if the origin does not know it.
  public let organizationCount: Int?

  /// Creates a city.
  public init(id: String, name: String, subName: String?, revenue: Int?, organizationCount: Int?) {
    self.id = id
    self.name = name
    self.subName = subName
    self.revenue = revenue
    self.organizationCount = organizationCount
  }
}

/// One page of cities.
public struct CitiesPage: Sendable, Hashable {
  /// The number of this page, from 0.
  public let page: Int
  /// The number of pages.
  public let totalPages: Int
  /// The number of cities on all pages.
  public let totalItems: Int
  /// The cities of this page, in the requested order.
  public let cities: [City]

  /// Whether this page is beyond the last one. Origins respond to requests for such pages too, without cities.
  public var isBeyondLast: Bool { page > 0 && cities.isEmpty && page >= totalPages }

  /// - Throws: `CacheError` with the code `notFound` if this page is beyond the last one.
  func checkExists() throws(CacheError) {
    guard isBeyondLast else { return }
    throw CacheError(
      .notFound, "there is no page \(page) of cities",
      hint: totalPages > 0 ? "pages are numbered from 0, and the last is \(totalPages - 1)" : "there are no cities")
  }

  /// Creates a page.
  public init(page: Int, totalPages: Int, totalItems: Int, cities: [City]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.cities = cities
  }
}

/// Which page of cities to fetch, and in what order.
public struct CitiesQuery: Sendable, Hashable {
  /// The order of the cities.
  public let order: CityOrder
  /// The direction of the order.
  public let direction: SortDirection
  /// The page, from 0.
  public let page: Int

  /// Creates a query. Without a direction, numbers are sorted in descending and names in ascending order.
  public init(order: CityOrder = .revenue, direction: SortDirection? = nil, page: Int = 0) {
    self.order = order
    self.direction = direction ?? order.defaultDirection
    self.page = page
  }
}

/// The orders of cities.
public enum CityOrder: String, Sendable, CaseIterable {
  /// The revenue of the city's organizations.
  case revenue
  /// The number of the city's organizations.
  case organizations
  /// The city's name.
  case name

  /// The direction that people expect if they do not give one.
  public var defaultDirection: SortDirection { self == .name ? .ascending : .descending }
}

/// The direction of an order.
public enum SortDirection: String, Sendable, CaseIterable {
  /// The smallest first.
  case ascending = "asc"
  /// The largest first.
  case descending = "desc"
}

/// A source of cities.
public protocol CityRepository: Sendable {
  /// Fetches the page of cities that `query` describes, as `options` say.
  func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage>
}

/// Fetches a page of cities in an order.
public struct FetchCitiesUseCase: Sendable {
  private let repository: any CityRepository

  /// Creates a use case over `repository`.
  public init(repository: any CityRepository) {
    self.repository = repository
  }

  /// Fetches the page of cities that `query` describes, as `options` say. Throws `notFound` beyond the last page.
  public func execute(_ query: CitiesQuery, options: FetchOptions = FetchOptions()) -> Snapshots<CitiesPage> {
    repository.cities(query, options: options).checked { page throws(CacheError) in try page.checkExists() }
  }
}

/// Fetches all cities in an order, page by page.
///
/// Each page is cached as it arrives, so a walk that ended early can be started again and continues from its end.
public struct FetchAllCitiesUseCase: Sendable {
  private let pages: FetchCitiesUseCase
  private let maxConcurrentRequests: Int

  /// Creates a use case that fetches at most `maxConcurrentRequests` (at least 1) pages at once.
  public init(pages: FetchCitiesUseCase, maxConcurrentRequests: Int) {
    self.pages = pages
    self.maxConcurrentRequests = maxConcurrentRequests
  }

  /// Calls `body` with each page in order, and with a summary of the pages so far.
  ///
  /// After a failure of the origin no further page is requested from it. The walk waits for pages under way, takes
  /// others from the cache, and ends at the first missing page. The returned summary contains the failure. Cancelling
  /// the task cancels the requests.
  ///
  /// - Parameters:
  ///   - direction: see `CitiesQuery`.
  ///   - limit: the walk ends with the page that reaches this many cities; without a limit, with the last page.
  /// - Returns: a summary of all delivered pages.
  /// - Throws: `CacheError`: what `body` throws, and the failure of the first page.
  public func execute(
    order: CityOrder = .revenue, direction: SortDirection? = nil, limit: Int? = nil,
    options: FetchOptions = FetchOptions(),
    _ body: (Snapshot<CitiesPage>, PagesSummary) throws(CacheError) -> Void
  ) async throws(CacheError) -> PagesSummary {
    let walk = PageWalk(width: maxConcurrentRequests, limit: limit)
    let result = await withTaskGroup(of: Answer.self) { group in
      await go(walk, in: &group, body) { [pages] page, isOffline in
        var options = options
        if isOffline { options.policy = .cacheOnly }
        let query = CitiesQuery(order: order, direction: direction, page: page)
        return Answer(page: page, result: await pages.last(query, options: options))
      }
    }
    return try result.get()
  }

  /// The response for one page.
  private struct Answer: Sendable {
    let page: Int
    let result: Result<Snapshot<CitiesPage>, CacheError>
  }

  private func go(
    _ walk: consuming PageWalk, in group: inout TaskGroup<Answer>,
    _ body: (Snapshot<CitiesPage>, PagesSummary) throws(CacheError) -> Void,
    fetch: @escaping @Sendable (_ page: Int, _ isOffline: Bool) async -> Answer
  ) async -> Result<PagesSummary, CacheError> {
    repeat {
      while let page = walk.start() {
        group.addTask { [isOffline = walk.isOffline] in await fetch(page, isOffline) }
      }
      guard let answer = await group.next() else { break }
      walk.receive(answer.result, for: answer.page)
      do throws(CacheError) {
        while let page = walk.takeNext(), let summary = walk.summary { try body(page, summary) }
      } catch {
        group.cancelAll()
        return .failure(error)
      }
    } while true
    guard let summary = walk.summary else { return .failure(walk.firstError) }
    return .success(summary)
  }
}

extension FetchCitiesUseCase {
  /// The last snapshot of a page: if there are two, the origin's. Beyond the last page it is empty, and no error.
  fileprivate func last(
    _ query: CitiesQuery, options: FetchOptions
  ) async -> Result<Snapshot<CitiesPage>, CacheError> {
    do throws(CacheError) {
      var last: Snapshot<CitiesPage>?
      for try await snapshot in repository.cities(query, options: options) { last = snapshot }
      if let last { return .success(last) }
      throw CacheError(.invalidAnswer, "page \(query.page) has no response")
    } catch {
      return .failure(error)
    }
  }
}
