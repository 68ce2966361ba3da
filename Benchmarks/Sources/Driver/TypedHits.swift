internal import CacheBase
internal import CacheData
internal import CacheDomain
internal import FoundationEssentials
internal import CacheCore
internal import SampleOrigin
internal import EngineAPI

/// Pages of 20 movies, read and decoded as a hit of the cache is; and for comparison by Foundation's decoder.
///
/// `hit(_:)` makes all calls of a hit.
struct TypedHits {
  enum Kind: String {
    /// Stores the pages.
    case fill = "typed-fill"
    /// Each page once, for the first time in this process.
    case first = "typed-first"
    /// A few pages again and again, while the store does not change.
    case again = "typed-again"
    /// The same as `first` by a plain read and Foundation's JSONDecoder.
    case firstByFoundation = "typed-first-foundation"
    /// The same as `again` by a plain read and Foundation's JSONDecoder.
    case againByFoundation = "typed-again-foundation"
  }

  /// How many pages the store has, and of how many different contents: all that the sample answers to one search.
  private static let (pages, differentPages) = (10_000, 61)
  /// How many pages are read again, and how often in all.
  private static let (hotPages, repeatedHits) = (100, 10_000)
  /// How many pages are looked at in full after the measurement.
  private static let examinedPages = 1_000

  private let engine: any StorageEngine
  private let storage: EngineMoviesResponseStorage
  private let requests: [MoviesRequestDTO]
  private let keys: [CacheKey]

  /// Does what `kind` says, and prints its cost.
  static func run(_ kind: Kind, _ store: Store, divisor: Int) async throws {
    let engine = try await store.open()
    let hits = try TypedHits(engine, pages: max(1, pages / divisor))
    switch kind {
    case .fill: try await hits.fill()
    case .first: try await hits.measure(hits.requests.indices.map { $0 }) { try await hits.hit($0) }
    case .again: try await hits.measureAgain(divisor) { try await hits.hit($0) }
    case .firstByFoundation: try await hits.measure(hits.requests.indices.map { $0 }) { try await hits.plainHit($0) }
    case .againByFoundation: try await hits.measureAgain(divisor) { try await hits.plainHit($0) }
    }
    try await engine.close()
  }

  private init(_ engine: any StorageEngine, pages: Int) throws {
    self.engine = engine
    storage = EngineMoviesResponseStorage(store: EntryStore(engine: engine, clock: FixedClock()))
    requests = try Self.requests(pages)
    keys = try requests.map { try CacheKey(for: $0) }
  }

  @inline(__always)
  private func hit(_ page: Int) async throws -> MoviesPageDTO {
    guard let found = try await storage.response(for: requests[page]) else {
      throw EntryMissing(key: keys[page].text)
    }
    return found.response
  }

  /// The same by a read of the engine's and Foundation's decoder.
  @inline(__always)
  private func plainHit(_ page: Int) async throws -> MoviesPageDTO {
    let decoded = try await engine.read(keys[page]) { payload, _ throws(CacheError) in
      let data = payload.withUnsafeBufferPointer { Data($0) }
      do { return try JSONDecoder().decode(MoviesPageDTO.self, from: data) } catch {
        throw CacheError(.damaged, "\(error)")
      }
    }
    guard let decoded else { throw EntryMissing(key: keys[page].text) }
    return decoded
  }

  private static func requests(_ count: Int) throws -> [MoviesRequestDTO] {
    guard let query = MovieQuery("the") else { throw EntryMissing(key: "the") }
    return (1...count).map { MoviesRequestDTO(origin: SampleMovieOrigin().name, query: query, page: $0) }
  }

  private func fill() async throws {
    var contents: [MoviesPageDTO] = []
    for request in try Self.requests(Self.differentPages) {
      if let page = try await SampleMovieOrigin().answer(to: request, conditions: [:]).response {
        contents.append(page)
      }
    }
    let now = Duration.milliseconds(FixedClock().now.milliseconds)
    let head = StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: ["ETag": "\"1\""]), storedAt: now, freshUntil: now + .seconds(3_600),
      retainUntil: now + .seconds(86_400))
    for (index, request) in requests.enumerated() {
      try await storage.store(contents[index % contents.count], head: head, for: request)
    }
  }

  private func measureAgain(_ divisor: Int, _ hit: (Int) async throws -> MoviesPageDTO) async throws {
    let hot = min(Self.hotPages, requests.count)
    for page in 0..<hot { _ = try await hit(page) }
    try await measure((0..<max(1, Self.repeatedHits / divisor)).map { $0 % hot }, hit)
  }

  /// Prints how long the hits take, and a sum over what some of them are. That is added up afterwards, because to go
  /// through a page takes longer than a repeated hit. The bytes are read once before: the disk is not measured.
  private func measure(_ pages: [Int], _ hit: (Int) async throws -> MoviesPageDTO) async throws {
    var sum = try await hashOfAll()
    var measured = Measured()
    for page in pages { _ = try await hit(page) }
    measured.end()
    for page in Set(pages).sorted().prefix(Self.examinedPages) {
      sum = sum &* 31 &+ Self.titleBytes(try await hit(page))
    }
    measured.print(operations: pages.count, sum: sum)
  }

  private func hashOfAll() async throws -> UInt64 {
    var sum: UInt64 = 0
    for key in keys {
      let hash = try await engine.read(key) { payload, _ throws(CacheError) in
        payload.withUnsafeBufferPointer { FNV1a.hash($0) }
      }
      guard let hash else { throw EntryMissing(key: key.text) }
      sum &+= hash
    }
    return sum
  }

  /// A sum over the titles of `page`.
  private static func titleBytes(_ page: MoviesPageDTO) -> UInt64 {
    page.toDomain().movies.reduce(0) { sum, movie in movie.title.utf8.reduce(sum) { $0 &* 31 &+ UInt64($1) } }
  }
}
