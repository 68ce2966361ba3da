import CacheDomain
import FetchVocabulary
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheCore

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
  func aChangedConfigurationReadsWhatWasWritten(backend: String, chain: [String]) async throws {
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
  func whatIsLargerThanAnEntryMayBeIsNotCompressed(size: String, transforms: String?) async throws {
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

  @Test(arguments: ["OTHER", "MISSING", nil])
  func withAnotherKeyAFetchGoesOnWithAWarning(key: String?) async throws {
    let home = try TestHome()
    let fetched = try await fetch(try container(home, ["sealed"]))
    let again = try await fetch(try container(home, [], key: key))
    #expect(again.value == fetched.value)
    #expect(again.source == .origin)
    #expect(again.warnings.map(\.code) == [key == "OTHER" ? .wrongKey : .invalidOption])
  }

  @Test(arguments: ["MISSING", nil])
  func sealingWithoutAKeyIsAnError(key: String?) async throws {
    let home = try TestHome()
    let container = try container(home, ["sealed"], key: key)
    let error = await #expect(throws: CacheError.self) { try await container.openStoreForFetching() }
    #expect(error?.code == .invalidOption)
    let store = try await container.openStore()
    #expect(try await store.administration.verify().issues.isEmpty)
    try await store.close()
  }

  @Test(arguments: ["0", "20", "-1", "\"high\""])
  func aLevelThatIsNoneIsAMistake(level: String) throws {
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
