import CacheData
import CacheDomain
import Synchronization
import Testing

/// All repositories except the one for cities, which the tests of fetching use.
struct RepositoryTests {
  /// A storage of any type that keeps the last response to each request.
  final class Shelf<Request: CacheableRequest, Response: Sendable>: ResponseStore {
    private let kept = Mutex<[Request: Response]>([:])

    var requests: [Request] { kept.withLock { Array($0.keys) } }

    func response(
      for request: Request, isCounted: Bool
    ) async throws(CacheError) -> StoredResponse<Response>? {
      guard let response = kept.withLock({ $0[request] }) else { return nil }
      let head = StoredHead(
        head: HTTPResponseHead(status: 200), storedAt: .zero, freshUntil: .seconds(9_999), retainUntil: .seconds(9_999))
      return StoredResponse(key: "k", response: response, head: head)
    }

    func store(
      _ response: Response, head: StoredHead, for request: Request,
      confirming confirmed: StoredResponse<Response>?, token: CoalescingToken?
    ) async throws(CacheError) {
      kept.withLock { $0[request] = response }
    }

    func remove(_ request: Request) async throws(CacheError) { kept.withLock { $0[request] = nil } }

    func key(for request: Request) throws(CacheError) -> String { "k" }
  }

  struct Movies: MovieOrigin {
    let name = "o"

    func answer(
      to request: MoviesRequestDTO, conditions: HTTPFields
    ) async throws(CacheError) -> OriginAnswer<MoviesPageDTO> {
      let page = MoviesPage(page: request.page, totalPages: 3, totalItems: 1, movies: [])
      return .whole(MoviesPageDTO(page))
    }
  }

  struct Posters: PosterOrigin {
    let name = "o"

    func answer(
      to request: PosterRequestDTO, conditions: HTTPFields
    ) async throws(CacheError) -> OriginAnswer<Poster> {
      .whole(Poster(bytes: Array(request.query.path.utf8), contentType: "image/png"))
    }
  }

  @Test func moviesAreKeptByTheirRequest() async throws {
    let (storage, query) = (Shelf<MoviesRequestDTO, MoviesPageDTO>(), try #require(MovieQuery("wire")))
    let repository = DefaultMoviesRepository(storage: storage, origin: Movies(), services: .at1000())
    var sources: [Snapshot<MoviesPage>.Source] = []
    for _ in 0..<2 {
      for try await snapshot in repository.movies(query, page: 3, options: FetchOptions()) {
        sources.append(snapshot.source)
        #expect(snapshot.value.page == 3)
      }
    }
    #expect(sources == [.origin, .cache])
    #expect(storage.requests == [MoviesRequestDTO(origin: "o", query: query, page: 3)])
  }

  @Test func postersAreKeptByTheirRequest() async throws {
    let (storage, query) = (Shelf<PosterRequestDTO, Poster>(), PosterQuery(path: "/7.png", width: 92))
    let repository = DefaultPosterImagesRepository(
      storage: storage, origin: Posters(), services: .at1000())
    var sources: [Snapshot<Poster>.Source] = []
    for _ in 0..<2 {
      for try await snapshot in repository.poster(query, options: FetchOptions()) {
        sources.append(snapshot.source)
        #expect(snapshot.value == Poster(bytes: Array("/7.png".utf8), contentType: "image/png"))
      }
    }
    #expect(sources == [.origin, .cache])
    #expect(storage.requests == [PosterRequestDTO(origin: "o", query: query)])
  }
}

extension RepositoryTests.Shelf: MoviesResponseStorage
where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

extension RepositoryTests.Shelf: PosterResponseStorage
where Request == PosterRequestDTO, Response == Poster {}
