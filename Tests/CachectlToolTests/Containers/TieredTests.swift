import FetchVocabulary
import LMDBStorage
import CacheCore
import SQLiteStorage
import EngineAPI
import Synchronization
import Testing

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
  private static let text = text(local: "lmdb", remote: "sqlite")
  private let home: TestHome
  private let remote = DistantPlugin()
  private let container: AppDIContainer

  init() throws {
    home = try TestHome()
    container = try home.container(Self.text, catalogue: PluginCatalogue([remote, LMDBPlugin()]))
  }

  private static func text(local: String, remote: String) -> String {
    #"{"backend": "tiered", "backends": {"tiered": {"local": "\#(local)", "remote": "\#(remote)"}}}"#
  }

  @Test func aFetchAnswersWhileTheRemoteStoreIsAway() async throws {
    remote.isAway.store(true, ordering: .releasing)
    let away = try await container.openStoreForFetching()
    let first = try #require(try await fetchCities(container, away).first)
    #expect(first.source == .origin && !first.entry.isStored)
    #expect(away.tierWarning?.code == .unreachable)
    try await away.close()

    remote.isAway.store(false, ordering: .releasing)
    let back = try await container.openStoreForFetching()
    let second = try #require(try await fetchCities(container, back).first)
    #expect(second.source == .origin && second.entry.isStored)
    let report = try await back.administration.statistics()
    #expect(report.entries == 1 && report.tiers.map(\.name) == ["local", "remote"])
    #expect(report.tiers.map { $0.count?.total(except: "leases").entries } == [1, 1])
    #expect(back.tierWarning == nil)
    try await back.close()

    remote.isAway.store(true, ordering: .releasing)
    let again = try await container.openStoreForFetching()
    let third = try #require(try await fetchCities(container, again).first)
    #expect(third.source == .cache, "the copy answers")
    #expect(again.tierWarning?.code == .unreachable)
    try await again.close()
  }

  @Test func requestsTakeLeasesInTheRemoteStore() throws {
    let plain = try home.container(#"{"backend": "sqlite"}"#)
    #expect(try plain.engine("sqlite").plugin.takesLeases)
    #expect(try container.engine("tiered").plugin.takesLeases)
    let alone = try home.container(Self.text(local: "lmdb", remote: "memory"))
    #expect(try !alone.engine("tiered").plugin.takesLeases)
    var text = Self.text
    text.insert(contentsOf: #""cache": {"layers": ["readonly"]}, "#, at: text.index(after: text.startIndex))
    let plugin = try home.container(text).engine("tiered").plugin
    #expect(!plugin.takesLeases && plugin.tieredLayer != nil)
  }

  /// The directory of the local store is next to the remote one, whose own section has its options.
  @Test func theStoreIsTheRemoteOne() throws {
    let (plugin, options) = try container.engine("tiered")
    #expect(plugin.declaration.name == "sqlite")
    #expect(try options.text("path") == home.home + "/cache.sqlite")
    #expect(plugin.tieredLayer?.local.options["path"] == .text(home.home + "/cache.sqlite.local/lmdb"))
    #expect(container.configuration.storePath == home.home + "/cache.sqlite")
    #expect(container.configuration.backend == "tiered")
  }

  @Test(arguments: [("lmbd", "; the nearest is lmdb"), ("", ""), ("redis", "")])
  func theLocalStoreIsOfAnEngineOnThisMachine(name: String, nearest: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      try home.container(Self.text(local: name, remote: "sqlite"))
    }
    #expect(error?.message.hasSuffix("config.json:1:56: 'backends.tiered.local' cannot be \"\(name)\"") == true)
    #expect(error?.hint == "give one of sqlite, lmdb, plist, memory\(nearest)")
  }

  @Test func theLocalStoreIsOfAnotherEngine() async throws {
    let container = try home.container(Self.text(local: "sqlite", remote: "sqlite"))
    let error = await #expect(throws: CacheError.self) { try await container.openStore() }
    #expect(error?.code == .invalidOption && error?.message == "sqlite cannot be put in front of itself")
  }
}
