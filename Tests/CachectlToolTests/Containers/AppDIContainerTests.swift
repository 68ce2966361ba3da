import CacheCore
import CacheDomain
import EngineAPI
import EngineConformance
import Foundation
import Synchronization
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

struct AppDIContainerTests {
  @Test(arguments: Backends.persistent)
  func fetchedEntriesAreThereWhenTheStoreIsOpenedAgain(backend: String) async throws {
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

  @Test(arguments: Backends.all) func moviesPostersAndQueriesWorkOverEveryEngine(backend: String) async throws {
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
      engines: PluginCatalogue.standard.declarations, sections: Fixtures.sections + [CountedSettings.self],
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

  @Test(arguments: Backends.all) func aStoreElsewhereThanInTheHomeIsClosedInOrder(backend: String) async throws {
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
    #expect(snapshots.flatMap(\.warnings).map(\.error.code.rawValue) == ["closed"])
  }
}

/// A folder of one test's own, removed with everything in it when the test lets it go. The home inside it does not
/// exist at first, as on a new machine.
final class TestHome: Sendable {
  let folder: String
  let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))

  var home: String { folder + "/new/home" }

  init() throws {
    folder = NSTemporaryDirectory() + "composition-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// The container for the configuration file `text`, in this home or in another one.
  func container(
    _ text: String, home: String? = nil, catalogue: PluginCatalogue = .standard, environment: [String: String] = [:]
  ) throws -> AppDIContainer {
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.standard.declarations, sections: Fixtures.sections,
      environment: EnvironmentVariables(environment), workingDirectory: folder, userHome: folder,
      readFile: { path in path.hasSuffix("/config.json") ? Array(text.utf8) : nil })
    let flags = ConfigurationFlags(file: folder + "/config.json", home: home ?? self.home)
    return AppDIContainer(configuration: try loader.load(flags), catalogue: catalogue, clock: clock)
  }

  /// The container for the engine called `backend`, and otherwise the defaults.
  func container(backend: String) throws -> AppDIContainer { try container(#"{"backend": "\#(backend)"}"#) }

  /// The paths of the files of stores, relative to the home.
  func storeFiles() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: home).sorted().filter { path in
      let type = try FileManager.default.attributesOfItem(atPath: "\(home)/\(path)")[.type] as? FileAttributeType
      return type == .typeRegular && !path.hasSuffix(".uses") && !path.hasSuffix("/store.lock")
    }
  }
}

/// The snapshots of a fetch of cities through a container and its store.
func fetchCities(
  _ container: AppDIContainer, _ store: OpenStore, _ options: FetchOptions = FetchOptions()
) async throws -> [Snapshot<CitiesPage>] {
  var snapshots: [Snapshot<CitiesPage>] = []
  let useCase = try container.context(store).makeFetchCitiesUseCase()
  for try await snapshot in useCase.execute(CitiesQuery(), options: options) { snapshots.append(snapshot) }
  return snapshots
}

/// The built-in engines whose stores are on this machine, and the persistent ones among them.
enum Backends {
  static let declarations = PluginCatalogue.standard.declarations.filter { !$0.isOnServer }
  static let all = declarations.map(\.name)
  static let persistent = declarations.filter { $0.capabilities.contains(.persistent) }.map(\.name)
}
