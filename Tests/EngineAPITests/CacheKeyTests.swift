import EngineAPI
import Testing

@Suite struct CacheKeyTests {
  @Test(arguments: [
    ("a/1", "a"), ("cities/v1/order=revenue", "cities"), ("a1/~!", "a1"),
    (String(repeating: "a", count: 32) + "/x", String(repeating: "a", count: 32)),
    ("a/" + String(repeating: "x", count: CacheKey.maximumLength - 2), "a"), ("a//", "a"),
  ])
  func validKeys(text: String, namespace: String) throws {
    let key = try CacheKey(text)
    #expect(key.text == text)
    #expect(key.namespace == namespace)
    #expect(key.namespaceLength == namespace.utf8.count)
    #expect(key.description == text)
  }

  @Test(arguments: [
    "", "/", "a", "a/", "/a", "A/1", "1a/1", "a b/1", "a-b/1", "a/ ", "a/é", "é/1", "a/\u{7F}", "a/\n", "a/\u{0}",
    String(repeating: "a", count: 33) + "/x", "a/" + String(repeating: "x", count: CacheKey.maximumLength - 1),
  ])
  func invalidKeys(text: String) {
    let error = #expect(throws: CacheError.self) { try CacheKey(text) }
    #expect(error?.code == .invalidKey)
  }

  @Test func keysAreOrderedByNamespaceAndThenByTheirBytes() throws {
    let texts = ["a/!", "a/0", "a/A", "a/a", "a/a!", "a/~", "a0/!", "aa/!", "b/!"]
    #expect(try texts.reversed().map { try CacheKey($0) }.sorted().map(\.text) == texts)
  }

  @Test(arguments: [
    ("cities/v1/page=0", "v1/page=0"), ("url/v1/url=x,variant=any", "v1/url=x"), ("a/,", ""), ("a/b,c,d", "b"),
    ("leases/v1/url=x,url,variant=any", "v1/url=x"), ("a/b%2Cc", "b%2Cc"),
  ])
  func aGroupEndsAtTheFirstComma(key: String, group: String) throws {
    #expect(String(Substring(try CacheKey(key).group)) == group)
  }
}
