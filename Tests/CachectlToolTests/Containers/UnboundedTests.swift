import CacheCore
import CacheDomain
import CachePresentation
import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The limits of the cache do not apply to the store, as on a server that evicts.
@Suite("A store with limits of its own")
struct UnboundedTests {
  private let home: TestHome
  private let container: AppDIContainer

  init() throws {
    home = try TestHome()
    container = try Self.container(home)
  }

  private static func container(
    _ home: TestHome, limits: String? = nil, caution: String? = nil, _ text: String = limited
  ) throws -> AppDIContainer {
    var plugin = UnboundedPlugin(over: try PluginCatalogue.builtIn.plugin(named: "sqlite"))
    (plugin.limits, plugin.caution) = (limits, caution)
    return try home.container(text, catalogue: PluginCatalogue([plugin]))
  }

  private static let limited = #"{"backend": "sqlite", "cache": {"maxEntries": 1, "maxBytes": "1KiB"}}"#

  private func withStore(_ body: (OpenStore) async throws -> Void) async throws {
    let store = try await container.openStore()
    try await body(store)
    try await store.close()
  }

  private func fetch(pages: Int = 3) async throws {
    let store = try await container.openStoreForFetching()
    let useCase = try container.context(store).makeFetchCitiesUseCase()
    for page in 0..<pages {
      for try await snapshot in useCase.execute(CitiesQuery(page: page), options: FetchOptions()) {
        #expect(snapshot.entry.isStored && snapshot.warnings.isEmpty)
      }
    }
    try await store.close()
  }

  @Test func fetchesAreKeptWhateverTheLimitsOfTheCacheAre() async throws {
    try await fetch()
    try await withStore { store in
      let view = RecordView(try await store.administration.statistics(), backend: "sqlite", path: nil)
      #expect(view.json["entries"] == 3 && view.json["fresh"] == 3 && view.json["misses"] == 3)
      #expect(view.json["evictions"] == .null && view.json["storageBytes"] == .null)
      #expect(try await store.entries.count() == nil, "a question before a removal takes no walk")
    }
  }

  @Test func theUseOfAnEntryIsNull() async throws {
    try await fetch(pages: 1)
    try await fetch(pages: 1)
    try await withStore { store in
      let key = try #require(
        try await store.administration.list(EntrySelection(), after: nil, limit: 1).entries.first?.key.text)
      let (entry, use) = try await ShowCommand.entry(key, in: store)
      let view = RecordView(entry, use: use)
      #expect(view.json["uses"] == .null && view.json["lastUsedAt"] == .null)
      #expect(view.table(on: .file, hasHeader: true).contains("\nUses         -\n"))
      #expect(try await store.administration.statistics().operations.hits == 1)
    }
  }

  @Test func itIsCheckedCompactedAndEmptiedWithoutACount() async throws {
    try await fetch()
    try await withStore { store in
      let checked = try await store.administration.verify { _, total in #expect(total == nil) }
      #expect(checked.entriesChecked == 3 && checked.issueCount == 0)
      #expect(try await store.administration.compact().after == nil)
    }
    #expect(try await Session(container).removeAll().report.entries == 3)
    try await withStore { store in
      let left = try await store.administration.list(EntrySelection(), after: nil, limit: 9).entries
      #expect(left.isEmpty)
    }
  }

  @Test func aMigrationThereWarnsOfNoLimits() async throws {
    try await fetch()
    let other = try home.container(#"{"backend": "memory"}"#)
    let destination = try await other.openStore()
    try await withStore { store in
      let there = try await store.entries.migrate(to: destination.entries, TransferOptions()) { _, _, total in
        #expect(total == nil)
      }
      #expect(there.verified == 3)
      let options = TransferOptions(overwrites: true)
      _ = try await destination.entries.migrate(to: store.entries, options) { _, _, _ in }
      #expect(try await Session(container).limitWarnings(of: store, "sqlite").isEmpty)
    }
    try await destination.close()
  }

  private static let statement =
    "cache.maxEntries and cache.maxBytes do not apply: sqlite has its own limits and evicts by itself"

  @Test(arguments: [nil, "maxmemory 64MiB, allkeys-lru"])
  func theConfigurationNamesItsLimits(limits: String?) async throws {
    let container = try Self.container(home, limits: limits)
    let text = Self.statement + (limits.map { " (\($0))" } ?? "")
    #expect(await container.limitsOfServer() == text)
    let view = ListView(container.configuration, showsOrigin: false, limits: await container.limitsOfServer())
    #expect(view.status?.text == text)
    let bounded = try home.container(Self.limited)
    #expect(await bounded.limitsOfServer() == nil)
    #expect(ListView(bounded.configuration, showsOrigin: false, limits: nil).status == nil)
  }

  @Test func aServerThatDoesNotAnswerKeepsNoConfigurationFromTheUser() async throws {
    let failure = CacheError(.unreachable, "the server does not answer")
    let plugin = FakePlugin("memory", capabilities: [.persistent], .init(failure: failure))
    let container = try home.container(#"{"backend": "memory"}"#, catalogue: PluginCatalogue([plugin]))
    #expect(await container.limitsOfServer()?.hasSuffix("by itself (the server does not answer)") == true)
  }

  @Test func theDoctorNamesItsLimitsAndWarnsOfThem() async throws {
    try await fetch()
    let container = try Self.container(home, limits: "no maxmemory", caution: "set maxmemory")
    let plugin = try container.catalogue.plugin(named: "sqlite")
    let findings = await StoreCheck(
      plugin: plugin, container: container, checks: FileChecks(files: SystemFileInspection())
    )
    .run().findings
    #expect(findings.map(\.verdict) == ["ok", "warning", "ok"])
    #expect(findings.first?.message == Self.statement + " (no maxmemory)")
    #expect(findings.dropFirst().first?.message == "set maxmemory")
    #expect(findings.last?.message.contains("opens: format version") == true)
  }
}
