/// Shows all cities in an order, page by page.
///
/// Each page is cached as it is fetched: a walk that ended early goes on where it was when it is begun again.
public struct FetchAllCitiesUseCase: Sendable {
  private let pages: FetchCitiesUseCase
  private let maxConcurrentRequests: Int

  /// The use case over `pages`, of which at most `maxConcurrentRequests` (at least 1) are fetched at once.
  public init(pages: FetchCitiesUseCase, maxConcurrentRequests: Int) {
    self.pages = pages
    self.maxConcurrentRequests = maxConcurrentRequests
  }

  /// Calls `body` with each page in order, and with what is known of the pages so far.
  ///
  /// After a failure of the origin no further page is asked of it: pages that are under way are waited for, those that
  /// are cached are taken from the cache, and the first that is missing ends the walk. That failure is part of the
  /// summary that is returned. Cancelling the task cancels the requests.
  ///
  /// - Parameters:
  ///   - direction: as for `CitiesQuery`.
  ///   - limit: the walk ends with the page on which this many cities are reached; at the last page without one.
  /// - Returns: what is known of all the pages that were handed on.
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

  /// The answer to one page.
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
  /// The last snapshot of a page: with two answers, the origin's.
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
