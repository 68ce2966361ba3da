import CacheCore
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

  /// - Parameters:
  ///   - silently: whether the lost master keeps its connections, but answers nothing.
  ///   - plugin: what opens the store.
  private func lose(silently: Bool = false, _ plugin: (any StoragePlugin)? = nil) async throws -> Loss {
    let cluster = try RedisCluster(replicas: 0)
    let engine = try await patiently {
      try await (plugin ?? self.plugin).open(cluster.url, ["timeout": .integer(2_000)])
    }
    let keys = try (0..<60).map { try CacheKey("cities/\($0)") }
    for key in keys { try await patiently { try await engine.put(key.text, "1") } }
    let server = try #require(try cluster.owner(of: layout.part(of: keys[0]), asking: cluster.nodes[1]))
    let lost = try keys.filter { key in
      try cluster.owner(of: layout.part(of: key), asking: cluster.nodes[1])?.port == server.port
    }
    if silently { server.pause() } else { server.stop() }
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

  @Test("Also a store with limits takes entries for the others, as long as it is not full")
  func withLimits() async throws {
    let loss = try await lose()
    let store = EntryStore(
      engine: loss.engine, clock: SystemClock(), limits: StoreLimits(maxEntries: 1_000, maxBytes: 1_000_000))
    for key in loss.keys where !loss.lost.contains(key) {
      try await patiently { try await store.write(key, payload: [1, 2], metadata: .sample()) }
    }
    for key in loss.keys where !loss.lost.contains(key) {
      let text = try await patiently { try await loss.engine.text(key.text) }
      #expect(text != nil, "\(key) was not stored")
    }
    try await store.close()
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

  @Test("A listing or a count that cannot see everything fails and names the node", arguments: [false, true])
  func listing(silently: Bool) async throws {
    let loss = try await lose(silently: silently)
    let engine = loss.engine
    try await expectFailures(engine, naming: loss.server)
    let redis = try #require(engine as? RedisEngine)
    #expect(redis.store.router.pool.isSilent(loss.server.address), "no call waits for it again")
    if silently { loss.server.resume() } else { try loss.server.start() }
    try await until("all is there again") {
      let page = try? await engine.scan(ScanRequest()).entries
      // A server that was stopped comes back empty.
      return page?.map(\.key) == loss.keys.filter { silently || !loss.lost.contains($0) }.sorted()
    }
    try await until("all is counted again") { await code { _ = try await engine.count() } == nil }
    try await engine.close()
  }

  @Test("The same through a library")
  func library() async throws {
    let loss = try await lose(try RedisLibraryTests.plugin("rediscluster"))
    try await expectFailures(loss.engine, naming: loss.server)
    try await loss.engine.close()
  }

  private func expectFailures(_ engine: any StorageEngine, naming server: RedisServer) async throws {
    func expectFailure(_ call: () async throws -> Void) async {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(
        error?.code == .unreachable && error?.message.contains("\(server.address)") == true,
        "\(String(describing: error))")
    }
    await expectFailure { _ = try await engine.scan(ScanRequest(limit: 5)) }
    await expectFailure { _ = try await engine.scan(ScanRequest(limit: 5, isDescending: true)) }
    await expectFailure { _ = try await engine.count() }
    await expectFailure { _ = try await engine.check() }
    await expectFailure { try await engine.compact() }
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
