import FetchVocabulary
import Foundation
import ServiceTokens
import ServiceTokensDomain
import Testing

/// Only the code that asks for a token's value sees it.
struct SecrecyTests {
  @Test func noTextOfATokenHasItsValue() throws {
    let token = try ServiceToken.sample("a")
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped, "\([token.value])"] {
      #expect(text.contains(TokenValue.mask))
      #expect(!text.contains("secret-of-a"))
    }
    #expect(token.value.reveal() == "secret-of-a")
  }

  @Test(arguments: ["", " ", "two words", "line\nbreak", "escape\u{1B}[2J", "\u{200B}"])
  func aValueThatIsNotAWordIsRefusedWithoutBeingRepeated(text: String) throws {
    let error = try #require(throws: CacheError.self) { try TokenValue(text) }
    #expect(error.code == .invalidRequest)
    #expect(text.isEmpty || text == " " || !"\(error)".contains(text))
  }

  @Test(arguments: ["", "two words", String(repeating: "n", count: 129), "bell\u{7}"])
  func aNameThatIsNotAWordIsRefused(name: String) throws {
    let value = try TokenValue("secret")
    #expect(throws: CacheError.self) { try ServiceToken(name: name, value: value) }
  }

  @Test(arguments: Backends.persistent)
  func noErrorOfAStoreHasTheValue(backend: String) async throws {
    let home = try TestHome()
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    let tool = ToolRun(home)
    #expect(await tool.run("insert", "a", "hidden-value", "--backend", backend).status == 0)
    let again = await tool.run("insert", "a", "hidden-value", "--backend", backend)
    #expect(again.status == 65)
    #expect(again.error.contains("there is a token 'a' already"))
    #expect(!again.error.contains("hidden-value"))
  }
}
