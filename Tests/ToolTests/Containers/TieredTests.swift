import FetchVocabulary
import LMDBStorage
import CacheCore
import SQLiteStorage
import StorageSPI
import Synchronization
import Testing

@testable import CacheComposition
@testable import CachectlTool

/// An engine that is called sqlite, and is away while a test says so.
private final class DistantPlugin: StoragePlugin {
  private let inside = SQLitePlugin()
  let isAway = Atomic(false)

  var declaration: EngineDeclaration { inside.declaration }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    if isAway.load(ordering: .acquiring) { throw CacheError(.unreachable, "the server is away") }
    return try await inside.open(configuration)
  }
}

@Suite("A store with tiers, by configuration")
struct TieredTests {
  private static let text = text(near: "lmdb", far: "sqlite")
  private let home: TestHome
  private let far = DistantPlugin()
  private let container: AppDIContainer

  init() throws {
    home = try TestHome()
    container = try home.container(Self.text, catalogue: PluginCatalogue([far, LMDBPlugin()]))
  }

  private static func text(near: String, far: String) -> String {
    #"{"backend": "tiered", "backends": {"tiered": {"near": "\#(near)", "far": "\#(far)"}}}"#
  }

  @Test func aFetchAnswersWhileFarIsAway() async throws {
    far.isAway.store(true, ordering: .releasing)
    let away = try await container.openStoreForFetching()
    let first = try #require(try await fetchCities(container, away).first)
    #expect(first.source == .origin && !first.entry.isStored)
    #expect(away.tierWarning?.code == .unreachable)
    try await away.close()

    far.isAway.store(false, ordering: .releasing)
    let back = try await container.openStoreForFetching()
    let second = try #require(try await fetchCities(container, back).first)
    #expect(second.source == .origin && second.entry.isStored)
    let report = try await back.administration.statistics()
    #expect(report.entries == 1 && report.tiers.map(\.name) == ["near", "far"])
    #expect(report.tiers.map { $0.count?.total(except: "leases").entries } == [1, 1])
    #expect(back.tierWarning == nil)
    try await back.close()

    far.isAway.store(true, ordering: .releasing)
    let again = try await container.openStoreForFetching()
    let third = try #require(try await fetchCities(container, again).first)
    #expect(third.source == .cache, "near answers")
    #expect(again.tierWarning?.code == .unreachable)
    try await again.close()
  }

  @Test func flightsTakeLeasesInFar() throws {
    let plain = try home.container(#"{"backend": "sqlite"}"#)
    #expect(try plain.engine("sqlite").plugin.takesLeases)
    #expect(try container.engine("tiered").plugin.takesLeases)
    let alone = try home.container(Self.text(near: "lmdb", far: "memory"))
    #expect(try !alone.engine("tiered").plugin.takesLeases)
    var text = Self.text
    text.insert(contentsOf: #""cache": {"layers": ["readonly"]}, "#, at: text.index(after: text.startIndex))
    let plugin = try home.container(text).engine("tiered").plugin
    #expect(!plugin.takesLeases && plugin.tieredLayer != nil)
  }

  /// The folder of near is beside the store of far, whose options the section of its own has.
  @Test func theStoreIsFars() throws {
    let (plugin, options) = try container.engine("tiered")
    #expect(plugin.declaration.name == "sqlite")
    #expect(try options.text("path") == home.home + "/cache.sqlite")
    #expect(plugin.tieredLayer?.folder == home.home + "/cache.sqlite.near")
    #expect(container.configuration.storePath == home.home + "/cache.sqlite")
    #expect(container.configuration.backend == "tiered")
  }

  @Test(arguments: [("lmbd", CacheError.Code.unknownBackend), ("", .unknownBackend), ("sqlite", .invalidOption)])
  func nearIsAnotherEngine(name: String, code: CacheError.Code) async throws {
    let container = try home.container(Self.text(near: name, far: "sqlite"))
    let error = await #expect(throws: CacheError.self) { try await container.openStore() }
    #expect(error?.code == code)
    if code == .unknownBackend {
      #expect(error?.message == "backends.tiered.near: '\(name)' is not built in")
      #expect(error?.hint == "use one of: lmdb, plist, memory")
    }
  }
}
