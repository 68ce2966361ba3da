import CacheCore
import FetchVocabulary
import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

@Suite struct BackgroundWorkTests {
  @Test(.timeLimit(.minutes(30))) func workThatHasEndedIsForgotten() async {
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
    background.start("a") { CacheWarning(.storing, CacheError(.noSpace, "the disk is full")) }
    #expect(await background.finish().map(\.code) == [.noSpace])
    #expect(await background.finish().isEmpty)
  }

  @Test(.timeLimit(.minutes(30))) func aReleasedRequestContinuesThoughLaterOnesAreHeld() async throws {
    let origin = FakeOrigin { (name: String) in name }
    origin.hold()
    let first = Task { try await origin.fetch("a") }
    await origin.arrival(of: 1)
    origin.release()
    origin.hold()
    #expect(try await first.value == "a")
    let second = Task { try await origin.fetch("b") }
    await origin.arrival(of: 2)
    origin.release()
    #expect(try await second.value == "b")
  }

  @Test(.timeLimit(.minutes(30))) func aRevalidationThatCannotBeStoredIsAWarningAtOnce() async throws {
    let (warnings, warn) = AsyncStream.makeStream(of: CacheError.Code.self)
    let clock = ManualClock(.start)
    let limits = StoreLimits(maxEntries: 10, maxBytes: 1_000, eviction: .lru)
    let cache = try await Cache.inMemory(clock: clock, limits: limits, warn: { warn.yield($0.error.code) })
    let origin = FakeOrigin { (_: String) in "short" }
    let texts = try cache.resource(
      "texts", freshFor: .seconds(10), staleWhileRevalidate: .seconds(100), fetch: origin.fetch)
    #expect(try await texts("a") == "short")
    clock.advance(by: .seconds(20))
    origin.answer { _ in String(repeating: "long", count: 1_000) }
    #expect(try await texts("a") == "short")
    #expect(await warnings.first { _ in true } == .tooLarge)
    try await cache.close()
  }

  /// Until the closure ends, which nothing can force, it must not keep the program from ending.
  @Test(.timeLimit(.minutes(30)), arguments: [true, false])
  func closingLeavesARevalidationBehindThatIgnoresItsCancellation(answers: Bool) async throws {
    let clock = ManualClock()
    let warnings = Warnings()
    let cache = try await Cache.inMemory(clock: clock, warn: warnings.add)
    let origin = FakeOrigin { (_: String) in "text" }
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let texts = try cache.resource("texts", freshFor: .seconds(10), staleWhileRevalidate: .seconds(100)) {
      (name: String) in
      defer { if origin.queries.count > 1 { end.yield() } }
      return try await Task.detached { try await origin.fetch(name) }.value
    }
    _ = try await texts("a")
    clock.advance(by: .seconds(20))
    origin.hold()
    _ = try await texts("a")
    await origin.arrival(of: 2)
    try await cache.close(waitingFor: .zero)
    let error = await #expect(throws: CacheError.self) { try await cache.keys() }
    #expect(error?.code == .closed)
    if !answers { origin.fail(with: CacheError(.failed, "no answer")) }
    origin.release()
    _ = await ended.first { _ in true }
    #expect(warnings.codes == [])
  }

  @Test(.timeLimit(.minutes(30))) func failuresOfWorkThatWasLeftBehindAreDropped() async {
    let origin = FakeOrigin { (name: String) in name }
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    origin.hold()
    let background = BackgroundWork()
    background.start("a") {
      _ = try? await Task.detached { try await origin.fetch("a") }.value
      end.yield()
      return CacheWarning(.closing, CacheError(.closed, "the store is closed"))
    }
    await origin.arrival(of: 1)
    #expect(await background.finish(within: .zero).isEmpty)
    origin.release()
    _ = await ended.first { _ in true }
    #expect(await background.finish().isEmpty)
  }
}
