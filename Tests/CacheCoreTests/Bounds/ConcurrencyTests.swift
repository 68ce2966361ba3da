import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

struct ConcurrencyTests {
  private static let writers = 6

  @Test(arguments: Effort.pairs(EvictionPolicy.standard.filter { $0 != .none }))
  func boundsHoldAtEveryInstantBesideAllWriters(engine: TestedEngine, policy: EvictionPolicy) async throws {
    let scratch = try Scratch(engine)
    let engines = try await scratch.open(Self.writers + 1)
    let limits = StoreLimits(maxEntries: 9, maxBytes: 900, eviction: policy)
    // A look after each write, not as many as possible: they would keep a writer from the lock until it gives up.
    let (written, progress) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let looks = try await withThrowingTaskGroup(of: Int.self) { group in
      for writer in 0..<Self.writers {
        let store = EntryStore(engine: engines[writer], clock: scratch.clock, limits: limits)
        group.addTask { try await write(to: store, as: writer, progress) }
      }
      let observer = engines[Self.writers]
      group.addTask {
        var looks = 0
        for await _ in written {
          let total = try await observer.count().total(except: "leases")
          #expect(total.entries <= limits.maxEntries && total.payloadBytes <= limits.maxBytes, "\(total)")
          looks += 1
        }
        return -looks
      }
      var stored = 0
      for _ in 0..<Self.writers { stored += try await group.next() ?? 0 }
      progress.finish()
      let looks = -(try await group.next() ?? 0)
      #expect(stored == Self.writers * writesOfEach)
      return looks
    }
    #expect(looks > 0)
    let total = try await engines[0].count().total()
    #expect(total.entries > 0 && total.entries <= limits.maxEntries)
    for engine in engines { try await engine.close() }
  }
}

private let writesOfEach = 60

/// Writes, and says how much was stored. None must fail: that others are faster is no failure.
private func write(
  to store: EntryStore, as writer: Int, _ progress: AsyncStream<Void>.Continuation
) async throws -> Int {
  for number in 0..<writesOfEach {
    let now = store.clock.now
    let metadata = EntryMetadata(
      storedAt: now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "text/plain")
    let key = try CacheKey("url/v1/\(writer)-\(number)")
    try await store.write(key, payload: [UInt8](repeating: 0, count: number * 7 % 200), metadata: metadata)
    progress.yield()
    await Task.yield()
  }
  return writesOfEach
}
