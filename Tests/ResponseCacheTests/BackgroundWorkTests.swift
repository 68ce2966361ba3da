import CachedFetching
import FetchVocabulary
import ResponseCache
import ResponseCacheTesting
import Testing

@Suite struct BackgroundWorkTests {
  @Test(.timeLimit(.minutes(1))) func workThatHasEndedIsForgotten() async {
    let background = BackgroundWork()
    for name in ["a", "b", "c"] { background.start(name) { nil } }
    while background.count > 0 { await Task.yield() }
    #expect(await background.finish().isEmpty)
  }

  @Test func workOfOneNameIsStartedOnce() async {
    let background = BackgroundWork()
    let origin = FakeOrigin { (name: String) in name }
    origin.hold()
    for name in ["a", "a", "b", "a"] {
      background.start(name) {
        _ = try? await origin.fetch(name)
        return nil
      }
    }
    #expect(background.count == 2)
    origin.release()
    await background.finish()
    #expect(origin.queries.sorted() == ["a", "b"])
    background.start("a") { CacheError(.noSpace, "the disk is full") }
    #expect(await background.finish().map(\.code) == [.noSpace])
    #expect(await background.finish().isEmpty)
  }

  @Test(.timeLimit(.minutes(1))) func aRevalidationThatCannotBeStoredIsAWarningAtOnce() async throws {
    let (warnings, warn) = AsyncStream.makeStream(of: CacheError.Code.self)
    let clock = ManualClock(.start)
    let limits = StoreLimits(maxEntries: 10, maxBytes: 1_000, eviction: .leastRecentlyUsed)
    let cache = try await Cache.inMemory(clock: clock, limits: limits, warn: { warn.yield($0.code) })
    let origin = FakeOrigin { (_: String) in "short" }
    let texts = cache.resource(
      "texts", freshFor: .seconds(10), staleWhileRevalidate: .seconds(100), fetch: origin.fetch)
    #expect(try await texts("a") == "short")
    clock.advance(by: .seconds(20))
    origin.answer { _ in String(repeating: "long", count: 1_000) }
    #expect(try await texts("a") == "short")
    #expect(await warnings.first { _ in true } == .tooLarge)
    try await cache.close()
  }
}
