internal import CacheData
internal import CacheDomain
internal import ResponseStorage
internal import SampleOrigin
internal import StorageBenchmark
internal import StorageSPI
internal import Synchronization

/// Pages of 20 movies each from the bundled sample, for the workloads that decode what they read.
struct MoviePages: Sendable {
  /// The number of different pages: a prime, so that no regular choice of entries always meets the same pages.
  static let count = 61

  private let coding: MoviesPageCoding
  let pages: [MoviesPageDTO]
  private let payloads: [[UInt8]]

  /// Loads the pages from a search with enough results.
  static func load() async throws(CacheError) -> MoviePages {
    let origin = SampleMovieOrigin()
    var pages: [MoviesPageDTO] = []
    for page in 1...count {
      guard let query = MovieQuery("the") else { break }
      let request = MoviesRequestDTO(origin: origin.name, query: query, page: page)
      if let response = try await origin.answer(to: request, conditions: [:]).response { pages.append(response) }
    }
    return try MoviePages(pages)
  }

  private init(_ pages: [MoviesPageDTO]) throws(CacheError) {
    let coding = try MoviesPageCoding()
    var payloads: [[UInt8]] = []
    for page in pages { payloads.append(try coding.encode(page)) }
    (self.coding, self.pages, self.payloads) = (coding, pages, payloads)
  }

  /// The records of a benchmark: a read decodes the page as a cache hit does, and compares all of it.
  var payload: TypedPayload {
    TypedPayload(
      encode: { [payloads] number throws(CacheError) in payloads[number % payloads.count] },
      isRight: { [coding, pages] number, bytes throws(CacheError) in
        try coding.decode(bytes) == pages[number % pages.count]
      })
  }
}

extension MoviePages {
  /// Makes a reader that stores and reads the pages through the storage that a search uses, over `engine`. The clock
  /// stands still.
  ///
  /// - Parameters:
  ///   - share: the number of this process: each process has its own keys.
  ///   - now: the time of the run.
  func reader(over engine: any StorageEngine, share: Int, now: Timestamp) -> any BenchmarkFetcher {
    let store = EntryStore(engine: engine, clock: FixedClock(now: now))
    return MoviesReader(
      storage: EngineMoviesResponseStorage(store: store), pages: pages, origin: "sample-\(share)", now: now.sinceEpoch)
  }
}

/// Reads pages of movies as a cache hit does: from the store, or already decoded.
private struct MoviesReader: BenchmarkFetcher {
  let storage: EngineMoviesResponseStorage
  let pages: [MoviesPageDTO]
  let origin: String
  let now: Duration
  private let answers = KnownAnswers()

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let request = try request(number)
    if isStored {
      guard let stored = try await storage.response(for: request, isCounted: true) else { return .wrong }
      return answers.isAnswer(stored.response, to: number) ? .hit : .wrong
    }
    let head = StoredHead(
      head: HTTPResponseHead(status: 200, fields: ["ETag": "\"\(number)\""]), storedAt: now,
      freshUntil: now + .seconds(3_600), retainUntil: now + .seconds(86_400))
    let page = pages[number % pages.count]
    try await storage.store(page, head: head, for: request)
    answers.expect(page, for: number)
    return .miss
  }

  private func request(_ number: Int) throws(CacheError) -> MoviesRequestDTO {
    guard let query = MovieQuery("the") else { throw CacheError(.invalidRequest, "there is no such query") }
    return MoviesRequestDTO(origin: origin, query: query, page: number + 1)
  }
}

/// The correct answers, indexed by page number.
private final class KnownAnswers: Sendable {
  private let pages = Mutex<[Int: MoviesPageDTO]>([:])

  func expect(_ page: MoviesPageDTO, for number: Int) { pages.withLock { $0[number] = page } }

  /// Whether `page` is correct. An answer found equal by a full comparison replaces the one it was compared with:
  /// comparing two pages that share their list in memory takes no time.
  func isAnswer(_ page: MoviesPageDTO, to number: Int) -> Bool {
    pages.withLock { pages in
      guard let known = pages[number], known == page else { return false }
      pages[number] = page
      return true
    }
  }
}
