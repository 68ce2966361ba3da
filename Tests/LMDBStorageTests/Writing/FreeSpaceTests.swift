import CLMDB
import Foundation
import EngineAPI
import Synchronization
import Testing

@testable import LMDBStorage

/// Freed space is returned to the file system, but no pages that a reader still sees.
@Suite struct FreeSpaceTests {
  @Test(
    arguments: [
      ([0], []), ([1, 9], [9..<10]), ([3, 9, 8, 7], [7..<10]), ([4, 9, 8, 5, 4], [8..<10, 4..<6]),
      ([2, 5, 4, 0], [4..<6]), ([], nil), ([9, 5, 4], nil), ([-1], nil), ([2, 4, 5], nil), ([2, 5, 5], nil),
      ([1, 10], nil), ([1, 1], nil), ([1, -1], nil),
    ] as [([Int], [Range<Int>]?)])
  func freePagesAreReadAsRanges(_ words: [Int], _ ranges: [Range<Int>]?) {
    #expect(words.withUnsafeBytes { LMDBFreePages.ranges($0, lastPage: 9) } == ranges)
  }

  @Test func compactIsTheFirstThingDoneToAStore() async throws {
    let store = try TestStore()
    for entries in 0..<3 {
      let engine = try await store.open(clock: FixedClock(now: .zero))
      try await engine.compact()
      #expect(try await engine.count().entries == entries)
      #expect(try await engine.check().isEmpty)
      try await engine.put("n\(entries)/a")
      try await engine.close()
    }
  }

  @Test func compactKeepsUnexpiredEntriesAndTheStoreIntact() async throws {
    let store = try TestStore()
    let engine = try await store.open(clock: FixedClock(now: Timestamp(milliseconds: 5_000)))
    let payload = [UInt8](repeating: 7, count: 50_000)
    for number in 0..<100 {
      let retainUntil: Int64 = number.isMultiple(of: 10) ? 9_000 : 3_000
      try await engine.put("big/\(number)", payload, .sample(retainUntil: retainUntil))
    }
    let full = try await engine.count().storageBytes
    try await engine.compact()
    #expect(try await engine.count().storageBytes < full / 3)
    #expect(try await engine.count().entries == 10)
    #expect(try await engine.check().isEmpty)
    for number in 0..<100 { try await engine.put("new/\(number)", payload, .sample(retainUntil: 9_000)) }
    for number in stride(from: 0, to: 100, by: 10) {
      let isWhole = try await engine.read(try CacheKey("big/\(number)")) { bytes, _ in
        bytes.withUnsafeBufferPointer { Array($0) == payload }
      }
      #expect(isWhole == true)
    }
    #expect(try await engine.check().isEmpty)
    try await engine.close()
  }

  @Test func aReaderStillSeesItsEarlierState() async throws {
    let store = try TestStore()
    let engine = try await store.open(mapSize: 67_108_864, clock: FixedClock(now: Timestamp(milliseconds: 5_000)))
    let payload = [UInt8](repeating: 7, count: 500_000)
    try await engine.put("big/old", payload)
    let environment = try LMDBRegistry.shared.environment(
      at: store.path, mapSize: 67_108_864
    ).environment
    let reader = try LMDBTransaction(environment, flags: MDB_RDONLY)
    let handle = try #require(environment.databases.withLock({ $0 }).first { $0.namespace.name == "big" }?.handle)
    let before = try Array("big/old".utf8).withUnsafeBytes { try #require(try reader.value($0, in: handle)) }
    try await engine.compact()
    #expect(try await engine.count().entries == 0)
    let isUnchanged = before.suffix(payload.count).elementsEqual(payload)
    #expect(isUnchanged)
    reader.abort()
    try await engine.close()
  }
}
