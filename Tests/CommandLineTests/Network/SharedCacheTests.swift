import TestOrigin
import Testing

/// Responses for one user only, in a private cache and in a shared cache.
@Suite struct SharedCacheTests {
  @Test(arguments: [(false, "private, max-age=600"), (true, "private, max-age=600"), (true, "max-age=600")])
  func privateResponsesAreStoredInAPrivateCacheOnly(isShared: Bool, directives: String) async throws {
    let scratch = try Scratch()
    let server = try TestServer(script: [TestResponse(fields: ["Cache-Control": directives], "hello")])
    try scratch.configure(text: #"{"cache": {"shared": \#(isShared)}}"#)
    let isStored = !isShared || !directives.contains("private")
    for _ in 1...2 {
      let run = try await scratch.cachectl("--backend", "sqlite", "fetch", "url", server.url)
      expectSuccess(run)
      #expect(run.text == "hello")
    }
    #expect(server.count == (isStored ? 1 : 2))
    let entries = try await scratch.cachectl("--backend", "sqlite", "ls", "--output", "json").document()["entries"]
    #expect(entries?.elements.count == (isStored ? 1 : 0))
  }
}
