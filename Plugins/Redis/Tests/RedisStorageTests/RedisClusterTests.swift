import Foundation
import StorageSPI
import Testing

@testable import RedisStorage

@Suite("What is not in the part of an entry")
struct RedisClusterTests {
  @Test("Entries that other parts have dropped make room within the bounds", arguments: [1, 2])
  func expiryMakesRoom(_ count: Int) async throws {
    let cluster = try RedisCluster(timeout: 5_000)
    let engine = try await RedisClusterPlugin().open(cluster.url)
    let end = SystemClock().now.advanced(by: .seconds(3))
    var filling = WriteBatch()
    for number in 0..<100 {
      filling.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample(retainUntil: end))
    }
    try await engine.apply(filling)
    try await until("the entries have been dropped") { try await engine.keys().isEmpty }
    var batch = WriteBatch()
    for number in 0..<count { batch.put(try CacheKey("movies/\(number)"), payload: [1], metadata: .sample()) }
    batch.bounds = StoreBounds(maxEntries: count, maxPayloadBytes: count)
    try await engine.apply(batch)
    #expect(try await engine.statistics().entries == count)
    batch.put(try CacheKey("movies/more"), payload: [1], metadata: .sample())
    let tooMany = batch
    #expect(await code { try await engine.apply(tooMany) } == .overBounds)
    try await engine.close()
  }
}
