import EngineAPI
import Testing

@testable import LMDBStorage

/// Batches of more pages than LMDB keeps in memory: it writes some before the transaction ends, those first that were
/// made last.
@Suite struct LargeBatchTests {
  @Test func noPayloadIsWrittenBeforeItIsThere() async throws {
    let payload = [UInt8](repeating: 0xA5, count: 2_100)  // In a separate page.
    let store = try TestStore()
    let engine = try await store.open(mapSize: 1 << 30)
    var batch = WriteBatch()
    for number in 0..<132_000 { batch.put(try CacheKey("cities/\(number)"), payload: payload, metadata: .sample()) }
    try await engine.apply(batch)
    for number in 0..<132_000 {
      let isIntact = try await engine.read(CacheKey("cities/\(number)")) { bytes, _ in
        bytes.withUnsafeBufferPointer { Array($0) == payload }
      }
      if isIntact != true { Issue.record("\(number)") }
    }
    #expect(try await engine.count().payloadBytes == 132_000 * payload.count)
    try await engine.close()
  }
}
