import StorageSPI
import Testing

@testable import LMDBStorage

/// Batches of more pages than LMDB keeps in memory: it writes some before the transaction ends, those first that were
/// made last.
@Suite struct LargeBatchTests {
  private static let payload = [UInt8](repeating: 0xA5, count: 2_100)  // In a page of its own.
  private static let slots = 100_000

  private static func put(_ key: String, _ payload: [UInt8], slot: Int, in batch: inout WriteBatch) throws {
    var metadata = EntryMetadata.sample()
    metadata.freshUntil = Timestamp(milliseconds: Int64(slot) << EntryTally.slotBits)
    batch.put(try CacheKey(key), payload: payload, metadata: metadata)
  }

  /// The tally is written when it has changed in many places, which takes pages as well.
  @Test func noPayloadIsWrittenBeforeItIsThere() async throws {
    let count = 127_400  // So that LMDB has room for some hundred pages more when the tally is written.
    let store = try TestStore()
    let engine = try await store.open(mapSize: 1 << 30)
    var batch = WriteBatch()
    for slot in 0..<Self.slots { try Self.put("cities/\(slot)", [], slot: slot, in: &batch) }
    try await engine.apply(batch)
    batch = WriteBatch()
    for number in 0..<count { try Self.put("cities/p\(number)", Self.payload, slot: 0, in: &batch) }
    let last = 0..<1_100
    for number in last { try Self.put("cities/q\(number)", Self.payload, slot: number * 90, in: &batch) }
    try await engine.apply(batch)
    for number in last {
      let isWhole = try await engine.read(CacheKey("cities/q\(number)")) { bytes, _ in
        bytes.withUnsafeBufferPointer { Array($0) == Self.payload }
      }
      #expect(isWhole == true, "\(number)")
    }
    try await engine.close()
  }
}
