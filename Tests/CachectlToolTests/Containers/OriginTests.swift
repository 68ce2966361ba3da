import CacheCore
import CacheDomain
import Foundation
import EngineConformance
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The origins that the configuration names, through the whole stack and on every engine.
struct OriginTests {
  private static let key = "k3y+of/a+server"
  private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxIn0.c2ln-bmF0_dXJl"
  private static let password = "Basic aHVudGVyMg=="

  private static func text(_ backend: String, environment: String = "real") -> String {
    #"""
    {"backend": "\#(backend)", "environment": "\#(environment)", "origin": {
      "cities": {"timeout": "7s", "headers": {"X-Plain": "1", "Authorization": {"env": "PASSWORD"}}},
      "movies": {"timeout": "9s", "apiKey": {"env": "KEY"}, "headers": {"X-Secret": {"env": "PASSWORD"}}}}}
    """#
  }

  private func movies(_ container: AppDIContainer, _ store: OpenStore, _ options: FetchOptions = FetchOptions())
    async throws -> [Snapshot<MoviesPage>]
  {
    let useCase = try container.context(store).makeSearchMoviesUseCase()
    var snapshots: [Snapshot<MoviesPage>] = []
    let query = try #require(MovieQuery("the wire"))
    for try await snapshot in useCase.execute(query, options: options) { snapshots.append(snapshot) }
    return snapshots
  }

  private func poster(_ container: AppDIContainer, _ store: OpenStore) async throws -> [Snapshot<Poster>] {
    let repository = try container.context(store).makePosterImagesRepository()
    var snapshots: [Snapshot<Poster>] = []
    for try await snapshot in repository.poster(PosterQuery(path: "/w.jpg"), options: FetchOptions()) {
      snapshots.append(snapshot)
    }
    return snapshots
  }

  @Test(arguments: ["alpha", "real"])
  func theEnvironmentSelectsThePublicServers(environment: String) async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let text = Self.text("memory", environment: environment)
    let container = try home.container(text, ["KEY": Self.key, "PASSWORD": Self.password], server: server)
    let store = try await container.openStore()
    let cities = try await fetchCities(container, store)
    let movies = try await movies(container, store)
    let poster = try await poster(container, store)
    #expect(cities.map(\.value.cities.count) == [2] && cities.map(\.value.totalPages) == [2])
    #expect(movies.map(\.value.totalPages) == [500] && movies.map(\.value.movies.first?.genres) == [["Drama"]])
    #expect(poster.map(\.value.contentType) == ["image/jpeg"])
    #expect(
      server.requests.map(\.url) == [
        "https://projects.propublica.org/nonprofits/api/v2/search.json?order=revenue&sort_order=desc&page=0",
        "https://api.themoviedb.org/3/search/movie?query=the%20wire&page=1&api_key=k3y%2Bof%2Fa%2Bserver",
        "https://image.tmdb.org/t/p/w342/w.jpg",
      ])
    #expect(server.requests.allSatisfy { $0.fields["User-Agent"] == "cachectl/1.2.3" })
    #expect(server.requests.map { $0.fields["X-Plain"] } == ["1", nil, nil])
    #expect(server.requests.map { $0.fields["Authorization"] } == [Self.password, nil, nil])
    #expect(server.requests.map { $0.fields["X-Secret"] } == [nil, Self.password, Self.password])
    #expect(Set(server.transports.map(\.timeout)) == [.seconds(7), .seconds(9)])
    try await store.close()
  }

  @Test(arguments: Backends.all)
  func answersAreCachedAsTheirServersSay(backend: String) async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let variables = ["KEY": Self.token, "PASSWORD": Self.password]
    let container = try home.container(Self.text(backend), variables, server: server)
    let store = try await container.openStore()
    for (elapsed, source, isRevalidated) in [
      (0, Snapshot<MoviesPage>.Source.origin, false), (59, .cache, false), (1, .cache, true),
    ] {
      home.clock.advance(by: .seconds(Int64(elapsed)))
      let movies = try await movies(container, store)
      let cities = try await fetchCities(container, store)
      let poster = try await poster(container, store)
      #expect(movies.map(\.source) == [source] && movies.map(\.isRevalidated) == [isRevalidated], "\(elapsed)")
      #expect(cities.map(\.isRevalidated) == [isRevalidated] && poster.map(\.isRevalidated) == [isRevalidated])
      #expect((movies.flatMap(\.warnings) + cities.flatMap(\.warnings) + poster.flatMap(\.warnings)).isEmpty)
    }
    #expect(server.requests.count == 6)
    #expect(server.requests.suffix(3).allSatisfy { $0.fields["If-None-Match"] == "W/\"v1\"" })
    try await store.close()
  }

  @Test(arguments: Backends.all)
  func noResultsAreKeptToo(backend: String) async throws {
    let (home, server) = (try TestHome(), FakeServer(status: 404, body: #"{"total_results": 0}"#))
    let container = try home.container(#"{"backend": "\#(backend)", "environment": "real"}"#, server: server)
    let store = try await container.openStore()
    let snapshots = try await fetchCities(container, store) + fetchCities(container, store)
    #expect(snapshots.map(\.source) == [.origin, .cache])
    #expect(snapshots.allSatisfy { $0.value == CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []) })
    try await store.close()
  }

  @Test(arguments: Backends.persistent, [key, token])
  func noSecretGetsIntoAStore(backend: String, key: String) async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let container = try home.container(
      Self.text(backend), ["KEY": key, "PASSWORD": Self.password], server: server)
    let store = try await container.openStore()
    _ = try await (movies(container, store), fetchCities(container, store), poster(container, store))
    try await store.close()
    let files = try FileManager.default.subpathsOfDirectory(atPath: home.home)
    var count = 0
    for path in files {
      guard let bytes = FileManager.default.contents(atPath: "\(home.home)/\(path)") else { continue }
      count += bytes.count
      for secret in [key, "k3y%2Bof%2Fa%2Bserver", Self.password, "aHVudGVyMg"] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil && !path.contains(secret), "\(path) holds \(secret)")
      }
    }
    #expect(count > 500)
  }

  @Test(arguments: [
    (["PASSWORD": "x"], "KEY", "set KEY"), (["KEY": "x"], "PASSWORD", "set PASSWORD"),
    (["KEY": "x", "PASSWORD": "a\r\nX: b"], "PASSWORD", "set PASSWORD to a value of one line"),
  ])
  func aSecretThatIsMissingMattersWhenTheServerIsAsked(
    variables: [String: String], name: String, hint: String
  ) async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let text = Self.text("sqlite")
    let whole = try home.container(text, ["KEY": "x", "PASSWORD": "y"], server: server)
    let partial = try home.container(text, variables, server: server)
    let store = try await partial.openStore()
    let error = await #expect(throws: CacheError.self) { _ = try await movies(partial, store) }
    #expect(error?.code == .originUnavailable)
    #expect(error?.message.contains("environment variable \(name)") == true)
    #expect(error?.hint == hint)
    #expect(server.requests.isEmpty)
    _ = try await movies(whole, store)
    #expect(try await movies(whole, store).map(\.source) == [.cache])
    // Whoever has not all of the secrets is not shown what they brought.
    await #expect(throws: CacheError.self) { _ = try await movies(partial, store) }
    try await store.close()
  }

  @Test func aServerOfOurOwnProtocolIsAsked() async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let origin = #"{"kind": "http", "baseURL": "http://127.0.0.1:8080/cities"}"#
    let container = try home.container(
      #"{"backend": "memory", "origin": {"cities": \#(origin)}}"#, server: server)
    let store = try await container.openStore()
    let snapshots = try await fetchCities(container, store)
    #expect(snapshots.map(\.value.cities.first?.name) == ["LOUISVILLE"])
    #expect(
      snapshots.map(\.entry.key) == [
        "cities/v1/order=revenue/origin=http%40127.0.0.1%3A8080%2Fcities/page=0/sort=desc"
      ])
    #expect(server.requests.map(\.url) == ["http://127.0.0.1:8080/cities?page=0&order=revenue&sort=desc"])
    try await store.close()
  }
}
