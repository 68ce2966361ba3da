import CacheCore
import CacheDomain
import EngineConformance
import FetchVocabulary
import Foundation
import Synchronization
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

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

  @Test(arguments: ["alpha", "real"]) func theEnvironmentSelectsThePublicServers(environment: String) async throws {
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

  @Test(arguments: Backends.all) func answersAreCachedAsTheirServersSay(backend: String) async throws {
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

  @Test(arguments: Backends.persistent, [key, token])
  func noSecretGetsIntoAStore(backend: String, key: String) async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let container = try home.container(Self.text(backend), ["KEY": key, "PASSWORD": Self.password], server: server)
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
  func aMissingSecretMattersAtTheFirstRequest(variables: [String: String], name: String, hint: String)
    async throws
  {
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
    // A client without all of the secrets does not get their responses.
    await #expect(throws: CacheError.self) { _ = try await movies(partial, store) }
    try await store.close()
  }

  @Test func aServerWithOurOwnProtocolGetsRequests() async throws {
    let (home, server) = (try TestHome(), FakeServer())
    let origin = #"{"kind": "http", "baseURL": "http://127.0.0.1:8080/cities"}"#
    let container = try home.container(#"{"backend": "memory", "origin": {"cities": \#(origin)}}"#, server: server)
    let store = try await container.openStore()
    let snapshots = try await fetchCities(container, store)
    #expect(snapshots.map(\.value.cities.first?.name) == ["LOUISVILLE"])
    #expect(
      snapshots.map(\.entry.key) == ["cities/v1/order=revenue/origin=http%40127.0.0.1%3A8080%2Fcities/page=0/sort=desc"]
    )
    #expect(server.requests.map(\.url) == ["http://127.0.0.1:8080/cities?page=0&order=revenue&sort=desc"])
    try await store.close()
  }
}

/// Replaces the servers of the public interfaces: it responds by path, and records its requests.
final class FakeServer: DataTransferService {
  fileprivate let state = Mutex<(requests: [HTTP.Request], transports: [Configuration.Transport])>(([], []))
  private let status: Int
  private let body: String?

  /// A server that responds like the public ones; or always in one way.
  init(status: Int = 200, body: String? = nil) {
    self.status = status
    self.body = body
  }

  var requests: [HTTP.Request] { state.withLock(\.requests) }

  /// The limits under which transfers were made.
  var transports: [Configuration.Transport] { state.withLock(\.transports) }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    state.withLock { $0.requests.append(request) }
    if request.fields["If-None-Match"] == Self.tag {
      return HTTP.Response(HTTP.ResponseHead(status: 304, fields: ["ETag": Self.tag, "Cache-Control": "max-age=60"]))
    }
    let (type, body) = Self.content(request.url)
    let fields: HTTP.Fields = [
      "Content-Type": type, "Cache-Control": "public, max-age=60, stale-if-error=600", "ETag": Self.tag,
      "Vary": "Accept,Accept-Encoding,Content-Type",
    ]
    return HTTP.Response(HTTP.ResponseHead(status: status, fields: fields), body: Array((self.body ?? body).utf8))
  }

  private static let tag = "W/\"v1\""

  private static func content(_ url: String) -> (type: String, body: String) {
    switch true {
    case url.contains("/nonprofits/api/v2/search.json?"): ("application/json; charset=utf-8", organizations)
    case url.contains("/3/search/movie?"): ("application/json;charset=utf-8", movies)
    case url.contains("/t/p/w"): ("image/jpeg", "the bytes of an image")
    default: ("application/json", cities)
    }
  }

  private static let organizations = #"""
    {"total_results": 26, "num_pages": 2, "cur_page": 0, "page_offset": 0, "per_page": 25, "organizations": [
      {"ein": 1, "city": "Portland", "state": "OR", "score": 1.5}, {"city": "Salem", "state": "Oregon"},
      {"city": "Portland", "state": "OR", "ntee_code": null}, {"city": null, "state": null}]}
    """#
  private static let movies = #"""
    {"page": 1, "total_pages": 900, "total_results": 18000, "results": [
      {"id": 7, "title": "The Wire", "overview": "", "release_date": "", "poster_path": "/w.jpg", "genre_ids": [18]}]}
    """#
  private static let cities = #"""
    {"resource": "cities", "page": 0, "totalPages": 1, "totalItems": 1, "items": [
      {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12, "organizationCount": 3}]}
    """#
}

extension TestHome {
  /// The container for the configuration file `text` with `variables` in the environment, whose origins are `server`.
  func container(
    _ text: String, _ variables: [String: String] = [:],
    sections: [any ConfigurationSection.Type] = Fixtures.sections, server: FakeServer
  ) throws -> AppDIContainer {
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.standard.declarations, sections: sections,
      environment: EnvironmentVariables(variables), workingDirectory: folder, userHome: folder,
      readFile: { path in path.hasSuffix("/config.json") ? Array(text.utf8) : nil })
    let configuration = try loader.load(ConfigurationFlags(file: folder + "/config.json", home: home))
    return AppDIContainer(
      configuration: configuration, clock: clock, userAgent: "cachectl/1.2.3",
      transfer: { transport in
        server.make(transport)
        return server
      })
  }
}

extension FakeServer {
  fileprivate func make(_ transport: Configuration.Transport) { state.withLock { $0.transports.append(transport) } }
}

/// The files that say who the client of a server is.
struct NetworkFilesTests {
  private static let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\nBBBB\n-----END CERTIFICATE-----\n"
  private static let key = "-----BEGIN PRIVATE KEY-----\nCCCC\n-----END PRIVATE KEY-----\n"
  private static let another = "-----BEGIN CERTIFICATE-----\nAAAB\n-----END CERTIFICATE-----\n"

  /// Only the certificate counts, not the file or its other content.
  @Test(arguments: [
    (certificate + key, true), (key + certificate, true), ("A comment\n" + certificate + another + key, true),
    (certificate.replacingOccurrences(of: "\n", with: "\r\n") + key, true),
    ("-----BEGIN CERTIFICATE-----\nAAAABBBB\n-----END CERTIFICATE-----\n" + key, true), (another + key, false),
    (another + certificate + key, false),
  ])
  func aCertificateIsTheSameInAnyFile(text: String, isSame: Bool) throws {
    let (first, second) = (try files(certificate: Self.certificate, key: Self.key), try files(certificate: text))
    #expect(first.problem == nil && second.problem == nil && first.clientIdentity != nil)
    #expect((first.clientIdentity == second.clientIdentity) == isSame)
  }

  @Test func withoutACertificateThereIsNoIdentity() {
    let none = NetworkFiles(Configuration.Network())
    #expect(none.clientIdentity == nil && none.problem == nil)
  }

  private func files(certificate: String, key: String? = nil) throws -> NetworkFiles {
    let home = try TestHome()
    func write(_ text: String, _ name: String) throws -> String {
      let path = "\(home.folder)/\(name).pem"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let network = Configuration.Network(
      clientCertificate: try write(certificate, "certificate"), clientKey: try key.map { try write($0, "key") })
    return withExtendedLifetime(home) { NetworkFiles(network) }
  }
}
