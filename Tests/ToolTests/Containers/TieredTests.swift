import FetchVocabulary
import LMDBStorage
import ResponseStorage
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
  private static let text = #"{"backend": "sqlite", "cache": {"layers": ["tiered"]}}"#
  private let home: TestHome
  private let far = DistantPlugin()
  private let container: AppDIContainer

  init() throws {
    home = try TestHome()
    container = try home.container(Self.text, catalogue: PluginCatalogue([far, LMDBPlugin()]))
  }

  private func finding() async -> Finding? { await TierCheck(container: container).findings().first }

  @Test func whatIsFetchedWhileFarIsAwayReachesIt() async throws {
    far.isAway.store(true, ordering: .releasing)
    #expect(await finding()?.message == "lmdb in front of sqlite has nothing yet")
    let away = try await container.openStoreForFetching()
    let first = try #require(try await fetchCities(container, away).first)
    #expect(first.source == .origin && first.entry.isStored)
    #expect(away.tierWarning?.code == .unreachable)
    try await away.close()
    let doctor = try #require(await finding())
    #expect(doctor.result == .warning && doctor.message.contains("1 write that sqlite did not take"))

    let next = try await container.openStoreForFetching()
    let second = try #require(try await fetchCities(container, next).first)
    #expect(second.source == .cache, "near answers")
    try await next.close()

    far.isAway.store(false, ordering: .releasing)
    let back = try await container.openStore()
    let report = try await back.administration.statistics()
    #expect(report.entries == 1 && report.tiers.map(\.name) == ["near", "far"] && report.tiers[0].pendingWrites == 0)
    #expect(back.tierWarning == nil)
    try await back.close()
    #expect(await finding()?.result == .ok)
    let plain = try home.container(#"{"backend": "sqlite"}"#)
    let alone = try await plain.openStore()
    #expect(try await alone.administration.statistics().entries == 1)
    try await alone.close()
  }

  @Test func flightsTakeLeasesInFar() throws {
    let plain = try home.container(#"{"backend": "sqlite"}"#)
    for container in [container, plain] { #expect(try container.engine("sqlite").plugin.takesLeases) }
    let readOnly = try home.container(#"{"backend": "sqlite", "cache": {"layers": ["tiered", "readonly"]}}"#)
    let plugin = try readOnly.engine("sqlite").plugin
    #expect(!plugin.takesLeases && plugin.tieredLayer != nil)
    let alone = try home.container(#"{"backend": "memory", "cache": {"layers": ["tiered"]}}"#)
    #expect(try !alone.engine("memory").plugin.takesLeases)
  }

  /// Near must be another engine that is there.
  @Test(arguments: ["sqlite", "redis", "lmbd", ""])
  func nearIsAnotherEngine(name: String) async throws {
    let text =
      #"{"backend": "sqlite", "cache": {"layers": ["tiered"]}, "layers": {"tiered": {"near": "\#(name)"}}}"#
    let container = try home.container(text)
    let error = await #expect(throws: CacheError.self) { try await container.openStore() }
    #expect(error?.code == .invalidOption && error?.hint.contains("lmdb") == true)
  }
}
