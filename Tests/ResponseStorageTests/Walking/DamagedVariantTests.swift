import CachedFetching
import FetchVocabulary
import ResponseStorage
import StorageSPI
import TestStorage
import Testing

/// Several responses for one URL, of which one is damaged.
@Suite struct DamagedVariantTests {
  private static let url = "https://example.com/"

  /// Stores `count` variants. A listing that includes one of the numbers in `damaged` fails.
  private func storage(
    _ count: Int, damaged: Set<Int>
  ) async throws -> (storage: EngineHTTPResponseStorage, keys: [String]) {
    let test = try await TestStore()
    let sound = EngineHTTPResponseStorage(store: test.store)
    var keys: [String] = []
    for number in 0..<count {
      var head = test.head()
      head.selector = try #require(
        VariantSelector(
          response: ["Vary": "Accept"], request: HTTPRequest(url: Self.url, fields: ["Accept": "\(number)"]),
          key: .ofProcess))
      keys.append(try await sound.store([1], head: head, for: Self.url, replacing: []))
    }
    // Another URL, whose keys come next.
    _ = try await sound.store([1], head: test.head(), for: Self.url + "z", replacing: [])
    keys.sort()
    let entries = try Set(damaged.map { try CacheKey(keys[$0]) })
    let engine = FaultyEngine(over: test.engine, Damage(entries: entries, isNamed: false))
    return (EngineHTTPResponseStorage(store: EntryStore(engine: engine, clock: test.clock)), keys)
  }

  @Test(arguments: [[], [0], [3], [9], [4, 5], [0, 1, 2, 3, 4, 5, 6, 7, 8]] as [Set<Int>])
  func theOthersAreRead(damaged: Set<Int>) async throws {
    let (storage, keys) = try await storage(10, damaged: damaged)
    let found = try await storage.readableVariants(of: Self.url)
    #expect(found.map(\.key) == keys.indices.filter { !damaged.contains($0) }.map { keys[$0] })
    let code = await errorCode { () async throws(CacheError) in _ = try await storage.variants(of: Self.url) }
    #expect(code == (damaged.isEmpty ? nil : .damaged), "a look-up fails")
  }
}
