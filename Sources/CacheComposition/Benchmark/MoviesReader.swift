internal import CacheData
internal import CacheDomain
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI
internal import Synchronization

extension MoviePages {
  /// Reads pages by the storage that a search has, over `engine`, after storing them by it. The time stands still.
  ///
  /// - Parameters:
  ///   - share: which process this is: each has keys of its own.
  ///   - now: the time of the run.
  func reader(over engine: any StorageEngine, share: Int, now: Duration) -> any BenchmarkFetcher {
    let store = EntryStore(engine: engine, clock: RunClock(now))
    return MoviesReader(
      storage: EngineMoviesResponseStorage(store: store), pages: pages, origin: "sample-\(share)", now: now)
  }
}

/// Reads pages of movies as a hit of the cache does: out of the store, or as they were decoded before.
private struct MoviesReader: BenchmarkFetcher {
  let storage: EngineMoviesResponseStorage
  let pages: [MoviesPageDTO]
  let origin: String
  let now: Duration
  private let answers = KnownAnswers()

  init(storage: EngineMoviesResponseStorage, pages: [MoviesPageDTO], origin: String, now: Duration) {
    (self.storage, self.pages, self.origin, self.now) = (storage, pages, origin, now)
  }

  func fetch(_ number: Int, isStored: Bool) async throws(StorageError) -> Bool {
    do throws(CacheError) {
      let request = try request(number)
      if isStored {
        guard let stored = try await storage.response(for: request, isCounted: true) else { return false }
        return answers.isAnswer(stored.response, to: number)
      }
      let head = StoredHead(
        head: HTTPResponseHead(status: 200, fields: ["ETag": "\"\(number)\""]), storedAt: now,
        freshUntil: now + .seconds(3_600), retainUntil: now + .seconds(86_400))
      let page = pages[number % pages.count]
      try await storage.store(page, head: head, for: request)
      answers.expect(page, for: number)
      return true
    } catch { throw StorageError(error) }
  }

  private func request(_ number: Int) throws(CacheError) -> MoviesRequestDTO {
    guard let query = MovieQuery("the") else { throw CacheError(.invalidRequest, "there is no such query") }
    return MoviesRequestDTO(origin: origin, query: query, page: number + 1)
  }
}

/// The answers that are right, by the numbers of the pages.
private final class KnownAnswers: Sendable {
  private let pages = Mutex<[Int: MoviesPageDTO]>([:])

  func expect(_ page: MoviesPageDTO, for number: Int) { pages.withLock { $0[number] = page } }

  /// Whether `page` is right. An answer that was found to be the same, letter by letter, takes the place of the one that
  /// it was compared with: two pages with the same list in memory are compared in no time.
  func isAnswer(_ page: MoviesPageDTO, to number: Int) -> Bool {
    pages.withLock { pages in
      guard let known = pages[number], known == page else { return false }
      pages[number] = page
      return true
    }
  }
}
