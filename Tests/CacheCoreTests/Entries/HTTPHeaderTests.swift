@testable import CacheCore
import Testing

/// The header of a response for a URL is restored unchanged, whatever its values begin with.
@Suite struct HTTPHeaderTests {
  @Test(
    arguments: [
      "text", "", ":", "a: b", "\u{301}tude", "\u{FE0F}", "\u{200D}x", "\u{20DD} ring", "\u{94D}", "e\u{301}", "\u{85}",
      "\u{2028}", "\u{1F1E9}\u{1F1EA}",
    ])
  func valuesComeBack(value: String) async throws {
    let test = try await TestStore()
    let storage = URLResponses(store: test.store)
    var head = test.head()
    head.head.fields = HTTPFields([
      HTTPFields.Field("X-First", value), HTTPFields.Field("x-second", value), HTTPFields.Field("X-First", "last"),
    ])
    let key = try await storage.store([1, 2], head: head, for: "https://example.com/")
    let found = try #require(try await storage.response(under: key))
    #expect(found.head == head)
    // Equal texts may still consist of different bytes.
    #expect(
      found.head.head.fields.lines.map { Array($0.value.utf8) } == head.head.fields.lines.map { Array($0.value.utf8) })
  }
}
