import CacheDomain
import Foundation
import CacheCore
import EngineConformance
import EngineAPI
import Synchronization
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct AppDIContainerTests {
  @Test(arguments: Backends.all)
  func citiesComeFromTheOriginFirstAndFromTheCacheThen(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let store = try await container.openStore()
    let first = try await fetchCities(container, store)
    let second = try await fetchCities(container, store)
    #expect(first.map(\.source) == [.origin])
    #expect(second.map(\.source) == [.cache])
    #expect(first.map(\.value) == second.map(\.value))
    #expect(first.map(\.value.cities.count) == [25])
    #expect((first + second).flatMap(\.warnings).isEmpty)
    let report = try await store.administration.statistics()
    #expect(report.count(.fresh) == 1)
    try await store.close()
  }

  @Test(arguments: Backends.all)
  func aStaleEntryIsRevalidated(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let store = try await container.openStore()
    _ = try await fetchCities(container, store)
    home.clock.advance(by: .seconds(3_600))
    let snapshots = try await fetchCities(container, store, FetchOptions(policy: .cachedThenNetwork))
    #expect(snapshots.map(\.source) == [.cache, .cache])
    #expect(snapshots.map(\.isRevalidated) == [false, true])
    #expect(snapshots.map(\.entry.isStale) == [true, false])
    try await store.close()
  }

  @Test(arguments: Backends.persistent)
  func whatWasFetchedIsThereWhenTheStoreIsOpenedAgain(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    for source in [Snapshot<CitiesPage>.Source.origin, .cache, .cache] {
      let store = try await container.openStoreForFetching()
      #expect(try await fetchCities(container, store).map(\.source) == [source])
      try await store.close()
    }
    let store = try await container.openStore()
    #expect(try await store.administration.statistics().operations == OperationCounts(hits: 2, misses: 1))
    try await store.close()
  }

  @Test(arguments: Backends.all)
  func moviesPostersAndQueriesWorkOverEveryEngine(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(#"{"backend": "\#(backend)", "queries": {"maxCount": 2}}"#)
    let store = try await container.openStore()
    let context = container.context(store)
    var poster: String?
    for text in ["star", "wire", "dark"] {
      let query = try #require(MovieQuery(text))
      for try await snapshot in try context.makeSearchMoviesUseCase().execute(query) {
        #expect(snapshot.warnings.isEmpty)
        poster = poster ?? snapshot.value.movies.first?.posterPath
      }
    }
    var sources: [Snapshot<Poster>.Source] = []
    let query = PosterQuery(path: try #require(poster), width: 92)
    for _ in 0..<2 {
      let snapshots = try context.makePosterImagesRepository().poster(query, options: FetchOptions())
      for try await snapshot in snapshots { sources.append(snapshot.source) }
    }
    #expect(sources == [.origin, .cache])
    let recent = context.makeFetchRecentMovieQueriesUseCase()
    #expect(try await recent.execute().map(\.query.text) == ["dark", "wire"])
    try await store.close()
  }

  @Test func theEngineIsSwitchedByTheConfigurationAlone() async throws {
    let home = try TestHome()
    for round in 0..<2 {
      for backend in Backends.persistent {
        let container = try home.container(backend: backend)
        #expect(container.configuration.backend == backend)
        let store = try await container.openStore()
        let sources = try await fetchCities(container, store).map(\.source)
        // Each engine has a store of its own, in which nothing is found that another one keeps.
        #expect(sources == [round == 0 ? .origin : .cache], "\(backend)")
        try await store.close()
      }
    }
  }

  /// A layer that counts how often it is made.
  struct CountedSettings: LayerSettings {
    static let path = "layers.counted"
    static let count = Atomic(0)

    init(_ keys: inout SectionReader) {}

    func makeLayer(over plugin: any StoragePlugin) throws(CacheError) -> any StoragePlugin {
      Self.count.add(1, ordering: .relaxed)
      return plugin
    }
  }

  @Test func anEngineIsBuiltOnceWithItsLayers() async throws {
    let home = try TestHome()
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.builtIn.declarations, sections: Fixtures.sections + [CountedSettings.self],
      environment: ["CACHECTL_CACHE_LAYERS": "counted"], workingDirectory: home.folder, userHome: home.folder,
      readFile: { _ in nil })
    let configuration = try loader.load(
      ConfigurationFlags(home: home.home), naming: [EngineReference("plist", flag: "--to")])
    let container = AppDIContainer(configuration: configuration, layers: [CountedSettings.self], clock: home.clock)
    for backend in ["sqlite", "plist"] {
      try await container.openStore(backend: backend).close()
      _ = try await container.hasStore(backend: backend)
      #expect(try container.crashedStore(backend: backend) == nil)
    }
    try await container.openStoreForFetching().close()
    #expect(CountedSettings.count.load(ordering: .relaxed) == 2)
  }

  @Test(arguments: Backends.all)
  func aStoreElsewhereThanInTheHomeIsClosedInOrder(backend: String) async throws {
    let home = try TestHome()
    let path = home.folder + "/elsewhere/store"
    let options = Backends.persistent.contains(backend) ? #""\#(backend)": {"path": "\#(path)"}"# : ""
    let container = try home.container(#"{"backend": "\#(backend)", "backends": {\#(options)}}"#)
    let store = try await container.openStore()
    _ = try await fetchCities(container, store)
    try await store.close()
    #expect(!FileManager.default.fileExists(atPath: home.home))
    guard Backends.persistent.contains(backend) else { return }
    let file = path + (backend == "sqlite" ? ".uses" : "/store.uses")
    let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
  }

  @Test func aClosedStoreIsAWarning() async throws {
    let home = try TestHome()
    let container = try home.container(backend: "memory")
    let store = try await container.openStore()
    try await store.close()
    let snapshots = try await fetchCities(container, store)
    #expect(snapshots.map(\.source) == [.origin])
    #expect(snapshots.flatMap(\.warnings).map(\.code.rawValue) == ["closed"])
  }
}
