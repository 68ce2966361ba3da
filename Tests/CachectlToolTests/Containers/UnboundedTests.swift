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

  private func withStore(_ body: (OpenStore, StorePresenter) async throws -> Void) async throws {
    let store = try await container.openStore()
    try await body(store, container.makeStorePresenter(store))
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
    try await withStore { _, presenter in
      let view = try await presenter.statistics()
      #expect(view.json["entries"] == 3 && view.json["fresh"] == 3 && view.json["misses"] == 3)
      #expect(view.json["evictions"] == .null && view.json["storageBytes"] == .null)
      let unasked = try await presenter.statistics(countingStates: false)
      #expect(unasked.summary == nil, "a question before a removal takes no walk")
    }
  }

  @Test func theUseOfAnEntryIsNull() async throws {
    try await fetch(pages: 1)
    try await fetch(pages: 1)
    try await withStore { store, presenter in
      let key = try #require(
        try await store.administration.list(EntrySelection(), after: nil, limit: 1).entries.first?.key.text)
      let view = try await presenter.entry(key).view
      #expect(view.json["uses"] == .null && view.json["lastUsedAt"] == .null)
      #expect(view.table(on: .file, hasHeader: true).contains("\nUses         -\n"))
      #expect(try await presenter.statistics().json["hits"] == 1)
    }
  }

  @Test func itIsCheckedCompactedAndEmptiedWithoutACount() async throws {
    try await fetch()
    try await withStore { _, presenter in
      let checked = try await presenter.verify { _, total in #expect(total == nil) }
      #expect(checked.json["entriesChecked"] == 3 && !checked.hasIssues)
      #expect(try await presenter.compact().json["entriesAfter"] == .null)
    }
    let view = try await container.removeAll { body throws(CacheError) in
      let store = try await container.openStore()
      try await body(store)
      try await store.close()
    }
    #expect(view.json["removed"] == 3)
    try await withStore { store, _ in
      let left = try await store.administration.list(EntrySelection(), after: nil, limit: 9).entries
      #expect(left.isEmpty)
    }
  }

  @Test func aMigrationThereWarnsOfNoLimits() async throws {
    try await fetch()
    let other = try home.container(#"{"backend": "memory"}"#)
    let destination = try await other.openStore()
    try await withStore { store, _ in
      let there = try await other.makeTransferPresenter().migrate(
        from: ("sqlite", store), to: ("memory", destination), overwrites: false, isDryRun: false
      ) { _, _, total in #expect(total == nil) }
      #expect(there.json["verified"] == 3)
      let back = try await container.makeTransferPresenter().migrate(
        from: ("memory", destination), to: ("sqlite", store), overwrites: true, isDryRun: false
      ) { _, _, _ in }
      #expect(back.warnings.isEmpty)
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
    let view = SettingsView(container.configuration, showsOrigin: false, limits: await container.limitsOfServer())
    #expect(view.status?.text == text)
    let bounded = try home.container(Self.limited)
    #expect(await bounded.limitsOfServer() == nil)
    #expect(SettingsView(bounded.configuration, showsOrigin: false, limits: nil).status == nil)
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
    let findings = await StoreCheck(plugin: plugin, container: container, files: SystemFileInspection()).run().findings
    #expect(findings.map(\.verdict) == ["ok", "warning", "ok"])
    #expect(findings.first?.message == Self.statement + " (no maxmemory)")
    #expect(findings.dropFirst().first?.message == "set maxmemory")
    #expect(findings.last?.message.contains("opens: 3 entries, format version") == true)
  }
}
