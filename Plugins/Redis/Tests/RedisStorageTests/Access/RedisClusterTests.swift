import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("What is not in the part of an entry")
struct RedisClusterTests {
  @Test("Entries that other parts have dropped make room within the bounds", arguments: [1, 2])
  func expiryMakesRoom(_ count: Int) async throws {
    let url = try RedisCluster.shared.get().url
    let engine = try await RedisPlugin(.cluster).open(url, ["prefix": .text("expiry-\(count)")])
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
    #expect(try await engine.count().entries == count)
    batch.put(try CacheKey("movies/more"), payload: [1], metadata: .sample())
    let tooMany = batch
    #expect(await code { try await engine.apply(tooMany) } == .overBounds)
    try await engine.close()
  }

  @Test("Connections that broke while they were idle do not hide the nodes that are there")
  func staleConnections() throws {
    let cluster = try RedisCluster(timeout: 1_000)
    let store = RedisStore(try options(.cluster, cluster.url))
    let victim = try #require(try cluster.masters().first)
    let keys = try (0..<1_000).map { try CacheKey("cities/\($0)") }
    let key = try #require(
      try keys.first { try cluster.owner(of: store.layout.part(of: $0), asking: victim)?.port == victim.port })
    #expect(try store.entry(key) == nil)
    for node in cluster.nodes { store.router.pool.give(try store.router.pool.take(node.address).connection) }
    for node in cluster.nodes { try node.ask("CLIENT", "KILL", "TYPE", "normal") }
    victim.stop()
    #expect(try store.entry(key) == nil)
  }
}
