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
    anyPage(query, options: options).checked { page throws(CacheError) in try page.checkExists() }
  }

  /// Like `execute`, but returns an empty page beyond the last one.
  func anyPage(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
    repository.cities(query, options: options)
  }
}

/// Fetches all cities in an order, page by page.
///
/// Each page is cached as it arrives, so a walk that ended early can be started again and continues where it ended.
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

  /// The answer for one page.
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
  /// The last snapshot of a page: if there are two, the origin's.
  fileprivate func last(
    _ query: CitiesQuery, options: FetchOptions
  ) async -> Result<Snapshot<CitiesPage>, CacheError> {
    do throws(CacheError) {
      var last: Snapshot<CitiesPage>?
      for try await snapshot in anyPage(query, options: options) { last = snapshot }
      if let last { return .success(last) }
      throw CacheError(.invalidAnswer, "page \(query.page) has no answer")
    } catch {
      return .failure(error)
    }
  }
}
