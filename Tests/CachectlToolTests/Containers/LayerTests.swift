import CacheDomain
import CachePresentation
import EngineAPI
import EngineConformance
import FetchVocabulary
import LMDBStorage
import SQLiteStorage
import Synchronization
import TestStorage
import Testing
@testable import CacheConfiguration
@testable import CacheCore
@testable import CachectlTool

/// The limits of the cache do not apply to the store, as on a server that evicts.
@Suite("A store with limits of its own") struct UnboundedTests {
  private let home: TestHome
  private let container: AppDIContainer

  init() throws {
    home = try TestHome()
    container = try Self.container(home)
  }

  private static func container(
    _ home: TestHome, limits: String? = nil, caution: String? = nil, _ text: String = limited
  ) throws -> AppDIContainer {
    var plugin = UnboundedPlugin(over: try PluginCatalogue.standard.plugin(named: "sqlite"))
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
      #expect(try await store.entries.count() == nil, "a question before a removal takes no scan")
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

  @Test func theConfigurationIsShownEvenIfAServerDoesNotRespond() async throws {
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
    ).run().findings
    #expect(findings.map(\.verdict) == ["ok", "warning", "ok"])
    #expect(findings.first?.message == Self.statement + " (no maxmemory)")
    #expect(findings.dropFirst().first?.message == "set maxmemory")
    #expect(findings.last?.message.contains("opens: format version") == true)
  }
}

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

@Suite("A store with tiers, by configuration") struct TieredTests {
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

  @Test func aFetchSucceedsWhileTheRemoteStoreIsUnreachable() async throws {
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
    #expect(third.source == .cache, "the copy is served")
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

/// Payload transforms as the configuration names them.
struct TransformsTests {
  private static let secrets = ["KEY": String(repeating: "0a", count: 32), "OTHER": String(repeating: "0b", count: 32)]
  private static let chains = [[], ["zstd"], ["sealed"], ["zstd", "sealed"]]

  private func container(
    _ home: TestHome, _ chain: [String], key: String? = "KEY", required: Bool = false, backend: String = "sqlite"
  ) throws -> AppDIContainer {
    let names = chain.map { "\"\($0)\"" }.joined(separator: ",")
    let sealed = key.map { #","transforms":{"sealed":{"key":{"env":"\#($0)"},"required":\#(required)}}"# } ?? ""
    return try home.container(
      #"{"backend":"\#(backend)","cache":{"transforms":[\#(names)]}\#(sealed)}"#, environment: Self.secrets)
  }

  private func fetch(_ container: AppDIContainer) async throws -> Snapshot<CitiesPage> {
    let store = try await container.openStoreForFetching()
    let snapshot = try #require(try await fetchCities(container, store).last)
    try await store.close()
    return snapshot
  }

  @Test(arguments: Backends.persistent, chains)
  func aChangedConfigurationReadsEarlierEntries(backend: String, chain: [String]) async throws {
    let home = try TestHome()
    let fetched = try await fetch(try container(home, chain, backend: backend))
    for other in Self.chains {
      let again = try await fetch(try container(home, other, backend: backend))
      #expect(again.value == fetched.value, "\(chain), \(other)")
      #expect(again.source == .cache, "\(chain), \(other)")
      #expect(again.warnings.isEmpty, "\(chain), \(other)")
    }
  }

  @Test(arguments: [("1KiB", nil), ("1MiB", "zstd")])
  func contentLargerThanAnEntryIsNotCompressed(size: String, transforms: String?) async throws {
    let home = try TestHome()
    let container = try home.container(
      #"{"backend":"sqlite","cache":{"transforms":["zstd"],"maxEntryBytes":"\#(size)"}}"#)
    let store = try await container.openStoreForFetching()
    _ = try await fetchCities(container, store)
    let listed = try await store.administration.list(EntrySelection(namespace: "cities"), after: nil, limit: 1)
    let key = try #require(listed.entries.first?.key)
    #expect(try await store.administration.entry(key)?.transforms == transforms)
    try await store.close()
  }

  @Test(arguments: ["OTHER", "MISSING", nil]) func withAnotherKeyAFetchContinuesWithAWarning(key: String?) async throws
  {
    let home = try TestHome()
    let fetched = try await fetch(try container(home, ["sealed"]))
    let again = try await fetch(try container(home, [], key: key))
    #expect(again.value == fetched.value)
    #expect(again.source == .origin)
    #expect(again.warnings.map(\.error.code) == [key == "OTHER" ? .wrongKey : .invalidOption])
  }

  @Test(arguments: ["MISSING", nil]) func sealingWithoutAKeyIsAnError(key: String?) async throws {
    let home = try TestHome()
    let container = try container(home, ["sealed"], key: key)
    let error = await #expect(throws: CacheError.self) { try await container.openStoreForFetching() }
    #expect(error?.code == .invalidOption)
    let store = try await container.openStore()
    #expect(try await store.administration.verify().issues.isEmpty)
    try await store.close()
  }

  @Test(arguments: ["0", "20", "-1", "\"high\""]) func aLevelThatIsNoneIsAMistake(level: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      try TestHome().container(#"{"backend":"sqlite","transforms":{"zstd":{"level":\#(level)}}}"#)
    }
    #expect(error?.message.contains("transforms.zstd.level") == true, "\(error?.message ?? "")")
  }

  @Test func anUnusableKeyIsNamedByItsVariable() async throws {
    let home = try TestHome()
    let text = #"{"cache":{"transforms":["sealed"]},"transforms":{"sealed":{"key":{"env":"SHORT"}}}}"#
    let container = try home.container(text, environment: ["SHORT": "abc"])
    let error = await #expect(throws: CacheError.self) { try await container.openStoreForFetching() }
    #expect(error?.message.hasPrefix("SHORT: the key of the transform 'sealed' is not 32 bytes") == true)
  }

  @Test(arguments: [
    (["zst"], "cannot contain \"zst\"", "the nearest is zstd"), (["zstd", "zstd"], "contains \"zstd\" twice", "once"),
  ])
  func onlyKnownNamesAreTakenAndEachOnce(chain: [String], message: String, hint: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try container(try TestHome(), chain) }
    #expect(error?.code == .outOfRange)
    #expect(error?.message.contains("'cache.transforms' \(message)") == true, "\(error?.message ?? "")")
    #expect(error?.hint.contains(hint) == true, "\(error?.hint ?? "")")
  }
}
