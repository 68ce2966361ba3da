import CachectlTool
import FetchVocabulary
import CacheCore
import ServiceTokens
import ServiceTokensDomain
import Testing

/// The tests run over every engine. No engine knows what a token is.
struct InsertAndListTests {
  @Test(arguments: Backends.all)
  func insertedTokensAreListedByName(backend: String) async throws {
    let tokens = try ["github", "aws/eu-1", "é", "zz", "a%b=c"].map { try ServiceToken.sample($0) }
    let listed = try await TestHome().withTokens(backend) { container in
      for token in tokens { try await container.makeInsertServiceTokenUseCase().execute(token) }
      return try await container.makeListServiceTokensUseCase().execute()
    }
    #expect(listed == tokens.sorted { $0.name < $1.name })
  }

  @Test(arguments: Backends.all)
  func aStoreWithoutTokensListsNone(backend: String) async throws {
    let listed = try await TestHome().withTokens(backend) { container in
      try await container.makeListServiceTokensUseCase().execute()
    }
    #expect(listed == [])
  }

  @Test(arguments: Backends.persistent)
  func tokensAreThereAfterARestart(backend: String) async throws {
    let home = try TestHome()
    let end = home.clock.now.sinceEpoch + .seconds(60)
    let tokens = [try ServiceToken.sample("a"), try ServiceToken.sample("b", expiresAt: end)]
    try await home.withTokens(backend) { container in
      for token in tokens { try await container.makeInsertServiceTokenUseCase().execute(token) }
    }
    let listed = try await home.withTokens(backend) { try await $0.makeListServiceTokensUseCase().execute() }
    #expect(listed == tokens)
  }

  @Test(arguments: Backends.all)
  func aTokenOfTheSameNameIsRefusedAndTheFirstStays(backend: String) async throws {
    let other = try ServiceToken(name: "a", value: try TokenValue("other-secret"))
    try await TestHome().withTokens(backend) { container in
      let insert = container.makeInsertServiceTokenUseCase()
      try await insert.execute(try .sample("a"))
      let error = await #expect(throws: CacheError.self) { try await insert.execute(other) }
      #expect(error?.code == .tokenExists)
      let list = container.makeListServiceTokensUseCase()
      #expect(try await list.execute() == [try .sample("a")])
    }
  }

  @Test(arguments: Backends.all)
  func aTokenIsGoneWhenItExpiresAndItsNameFree(backend: String) async throws {
    let home = try TestHome()
    let end = home.clock.now.sinceEpoch + .seconds(60)
    try await home.withTokens(backend) { container in
      let (insert, list) = (container.makeInsertServiceTokenUseCase(), container.makeListServiceTokensUseCase())
      try await insert.execute(try .sample("short", expiresAt: end))
      try await insert.execute(try .sample("long"))
      home.clock.advance(by: .milliseconds(59_999))
      #expect(try await list.execute().map(\.name) == ["long", "short"])
      home.clock.advance(by: .milliseconds(1))
      #expect(try await list.execute().map(\.name) == ["long"])
      let again = try ServiceToken(name: "short", value: try TokenValue("new"), expiresAt: end + .seconds(60))
      try await insert.execute(again)
      #expect(try await list.execute() == [try .sample("long"), again])
    }
  }
}
