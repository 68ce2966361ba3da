import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A master of a cluster is lost, and has no replica")
struct RedisLostNodeTests {
  private let plugin = RedisPlugin(.cluster)
  private let layout = RedisLayout(prefix: "cachectl", isSpread: true)

  /// A cluster with an entry for each of `keys`, which has just lost the master of the first one, and the engine that put
  /// them.
  private struct Loss {
    let cluster: RedisCluster
    let engine: any StorageEngine
    let keys: [CacheKey]
    let lost: Set<CacheKey>
    let server: RedisServer
  }

  private func lose() async throws -> Loss {
    let cluster = try RedisCluster(replicas: 0)
    let engine = try await patiently { try await plugin.open(cluster.url, ["timeout": .integer(2_000)]) }
    let keys = try (0..<60).map { try CacheKey("cities/\($0)") }
    for key in keys { try await patiently { try await engine.put(key.text, "1") } }
    let server = try #require(try cluster.owner(of: layout.part(of: keys[0]), asking: cluster.nodes[1]))
    let lost = try keys.filter { key in
      try cluster.owner(of: layout.part(of: key), asking: cluster.nodes[1])?.port == server.port
    }
    server.stop()
    return Loss(cluster: cluster, engine: engine, keys: keys, lost: Set(lost), server: server)
  }

  @Test(
    "What is on the others is read and written, also by a process that opens the store then; one call waits, and no other"
  )
  func othersGoOn() async throws {
    let loss = try await lose()
    for key in loss.keys {
      if loss.lost.contains(key) {
        #expect(await code { _ = try await loss.engine.text(key.text) } == .unreachable)
        #expect(await code { try await loss.engine.put(key.text, "2") } == .unreachable)
      } else {
        try await patiently { try await loss.engine.put(key.text, "2") }
        #expect(try await patiently { try await loss.engine.text(key.text) } == "2")
      }
    }
    let engine = try #require(loss.engine as? RedisEngine)
    #expect(engine.store.router.pool.isSilent(loss.server.address))
    let late = try await patiently { try await plugin.open(loss.cluster.url, ["timeout": .integer(2_000)]) }
    for key in loss.keys where !loss.lost.contains(key) {
      #expect(try await patiently { try await late.text(key.text) } == "2")
    }
    try await late.close()
    try await loss.engine.close()
  }

  @Test("Calls that wait for the lost node keep no thread from the others")
  func lanes() async throws {
    let loss = try await lose()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for key in loss.lost {
        group.addTask { #expect(await code { _ = try await loss.engine.text(key.text) } == .unreachable) }
      }
      for key in loss.keys where !loss.lost.contains(key) {
        group.addTask {
          let text = try await patiently { try await loss.engine.text(key.text) }
          #expect(text == "1")
        }
      }
      try await group.waitForAll()
    }
    try await loss.engine.close()
  }

  @Test("When it is back, its part is there again")
  func back() async throws {
    let loss = try await lose()
    let key = try #require(loss.lost.first)
    #expect(await code { _ = try await loss.engine.text(key.text) } == .unreachable)
    try loss.server.start()
    try await until("the node is asked again") { await code { _ = try await loss.engine.text(key.text) } == nil }
    try await loss.engine.close()
  }
}
