import EngineAPI
import Testing
@testable import CacheCore

struct StoredURLTests {
  private static let url = "http://a.example:8901/list?q=a%20b&c=%2F"

  @Test(arguments: [url, "https://[::1]/", "http://a.example/~a,b"])
  func aKeyHasTheURLInIt(url: String) throws {
    let stored = try #require(StoredURL(try URLResponses.key(of: url)))
    #expect(stored.text == url && stored.isWhole && stored.variant == nil)
    let selector = VariantSelector(names: ["accept"], digest: "0123")
    #expect(StoredURL(try URLResponses.key(of: url, selector))?.variant == "0123")
  }

  @Test func aLongURLIsShownByItsBeginning() throws {
    let stored = try #require(StoredURL(try URLResponses.key(of: Self.url + String(repeating: "x", count: 20_000))))
    #expect(stored.text.hasPrefix(Self.url + "xxx") && stored.text.hasSuffix("…") && !stored.isWhole)
    #expect(stored.text.utf8.count < 1_100)
  }

  @Test(arguments: ["cities/v1/page=0", "url/v1/url=http%3A%2F%2Fa%2F", "url/v2/url=a,variant=any", "url/v1/url=a,x"])
  func otherKeysHaveNone(key: String) throws { #expect(StoredURL(try CacheKey(key)) == nil) }

  /// Patterns match URLs as people write them, and keys.
  @Test(
    arguments: [
      ("http://a.example:8901/*", true), ("HTTP://A.Example:8901/*", true), (url, true), ("http://*/list*", true),
      ("http*", true), ("h*q=a%20b*", true), ("*://a.example*", true), ("*/list?q=*", true), ("*%2f", true),
      ("url/v1/url=http%3A*", true), ("*a.example%3A8901*", true), ("*,variant=any", true),
      ("https://*", false), ("http://a.example:8901/", false), ("http://a.example/*", false), ("a.example*", false),
      ("http", false), ("http://*Q=*", false), ("http://A.EXAMPLE*q=*", true),
    ])
  func patternsMatchURLs(pattern: String, isMatch: Bool) async throws {
    let test = try await TestStore()
    var batch = WriteBatch()
    let metadata = EntryMetadata(test.head(), contentType: "", attributes: [:])
    for key in [try URLResponses.key(of: Self.url), try CacheKey("cities/v1/page=0")] {
      try test.store.put(key, [], metadata, into: &batch)
    }
    try await test.engine.apply(batch)
    let selection = EntrySelection(pattern: GlobPattern(StoredURL.spelled(pattern)))
    let found = try await StoreAdministration(test.store).list(selection, after: nil, limit: .max).entries
    #expect(found.map(\.key.namespace) == (isMatch ? ["url"] : []), "\(pattern)")
  }

  @Test(arguments: [
    ("http://A.example", "http://a.example/", true), ("https:", "http://a.example/", false),
    ("http://a.example/%7ea", "http://a.example/~a/b", true), ("http://a.example/é", "http://a.example/%C3%A9", true),
    ("http://a.example/B", "http://a.example/b", false),
  ])
  func prefixesMatchURLs(prefix: String, url: String, isMatch: Bool) throws {
    #expect(try URLResponses.key(of: url).text.hasPrefix(StoredURL.keyPrefix(ofBeginning: prefix)) == isMatch)
  }
}
