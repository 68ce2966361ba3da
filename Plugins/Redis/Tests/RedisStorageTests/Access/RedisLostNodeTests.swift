import ResponseStorage
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

  @Test(
    "Also a store with limits takes entries for the others, and evicts there when it is full", arguments: [1_000, 40])
  func withLimits(_ maxEntries: Int) async throws {
    let loss = try await lose()
    let store = EntryStore(
      engine: loss.engine, clock: SystemClock(), limits: StoreLimits(maxEntries: maxEntries, maxBytes: 1_000_000))
    for key in loss.keys where !loss.lost.contains(key) {
      try await patiently { try await store.write(key, payload: [1, 2], metadata: .sample()) }
    }
    let found = try await patiently { try await loss.engine.reachableStatistics() }
    #expect(found.missing != nil && found.content.entries > 0)
    // A third is thought to be on the lost node.
    let most = maxEntries == 40 ? 2 * 40 / 3 + 5 : loss.keys.count
    #expect(found.content.entries <= most, "\(found.content.entries) entries")
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

  /// All that `engine` can reach, by pages of `limit`, and what it says is missing.
  private func reachable(_ engine: any StorageEngine, limit: Int) async throws -> (
    keys: [CacheKey], missing: Set<String>
  ) {
    var (keys, missing) = ([CacheKey](), Set<String>())
    while true {
      let page = try await engine.scanReachable(KeyRange(after: keys.last), limit: limit)
      keys += page.content.map(\.key)
      if let text = page.missing { missing.insert(text) }
      if page.content.count < limit { return (keys, missing) }
    }
  }

  @Test(
    "A listing and a count have what is on the others, and say what is missing; what must be complete fails",
    arguments: [false, true])
  func listing(silently: Bool) async throws {
    let loss = try await lose(silently: silently)
    let (engine, others) = (loss.engine, loss.keys.filter { !loss.lost.contains($0) }.sorted())
    let slots = try #require(
      try loss.cluster.ranges(asking: loss.cluster.nodes[1]).first { $0.port == loss.server.port }?.slots.count)
    for limit in [1, 7, others.count, 1_000] {
      // A node that is slow may seem to be lost, too.
      try await until("the other nodes answer in time") {
        let (keys, missing) = try await reachable(engine, limit: limit)
        guard keys == others else { return false }
        #expect(missing.count == 1 && missing.allSatisfy { $0.contains("\(slots) of 16384 slots cannot be reached") })
        #expect(missing.allSatisfy { $0.hasSuffix("(\(loss.server.address))") }, "\(missing)")
        return true
      }
    }
    let redis = try #require(engine as? RedisEngine)
    #expect(redis.store.router.pool.isSilent(loss.server.address), "no call waits for it again")
    try await until("the other nodes count in time") {
      let count = try await engine.reachableStatistics()
      #expect(count.missing?.contains("\(loss.server.address)") == true)
      return count.content.tally.total().entries == others.count
    }
    // One that could go on with what the partial listing has read ahead fails like the others.
    let page = try await engine.scanReachable(KeyRange(), limit: 5)
    let rest = KeyRange(after: page.content.last?.key)
    #expect(await code { _ = try await engine.scan(rest, limit: 5) } == .unreachable)
    #expect(await code { _ = try await engine.scan(KeyRange(), limit: 5) } == .unreachable)
    #expect(await code { _ = try await engine.statistics() } == .unreachable)
    #expect(await code { _ = try await engine.checkIntegrity() } == .unreachable)
    #expect(await code { try await engine.compact() } == .unreachable)
    if silently { loss.server.resume() } else { try loss.server.start() }
    try await until("all is there again") {
      let (keys, missing) = try await reachable(engine, limit: 1_000)
      // A server that was stopped comes back empty.
      return missing.isEmpty && keys == (silently ? loss.keys.sorted() : others)
    }
    try await until("all is counted again") { try await engine.reachableStatistics().missing == nil }
    try await engine.close()
  }

  @Test("The same through a library")
  func library() async throws {
    let loss = try await lose(try RedisLibraryTests.plugin("rediscluster"))
    let others = loss.keys.filter { !loss.lost.contains($0) }.sorted()
    try await until("the other nodes answer in time") {
      let (keys, missing) = try await reachable(loss.engine, limit: 7)
      #expect(missing.allSatisfy { $0.contains("slots cannot be reached") && $0.contains("\(loss.server.address)") })
      return keys == others && !missing.isEmpty
    }
    let count = try await loss.engine.reachableStatistics()
    #expect(count.content.tally.total().entries == others.count && count.missing != nil)
    #expect(await code { _ = try await loss.engine.scan(KeyRange(), limit: 5) } == .unreachable)
    try await loss.engine.close()
  }

  @Test("If no node answers, a listing fails")
  func allLost() async throws {
    let loss = try await lose()
    for node in loss.cluster.nodes where node !== loss.server { node.stop() }
    #expect(await code { _ = try await loss.engine.scanReachable(KeyRange(), limit: 5) } == .unreachable)
    #expect(await code { _ = try await loss.engine.reachableStatistics() } == .unreachable)
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
