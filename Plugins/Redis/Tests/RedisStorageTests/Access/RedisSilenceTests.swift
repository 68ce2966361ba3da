import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A silent server delays a caller only once")
struct RedisSilenceTests {
  @Test("Once it was silent calls fail at once, until it answers a thread that asks in the background")
  func failsFast() async throws {
    let server = try RedisServer()
    let engine = try await patiently { try await RedisPlugin().open(server.url, ["timeout": .integer(300)]) }
    try await patiently { try await engine.put("cities/a", "1") }
    server.pause()
    #expect(await code { _ = try await engine.text("cities/a") } == .unreachable)
    for _ in 0..<100 {
      let error = await #expect(throws: CacheError.self) { try await engine.put("cities/a", "2") }
      #expect(error?.code == .unreachable)
      #expect(error?.message.contains("asked again") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("not known") == false, "nothing was sent")
    }
    server.resume()
    #expect(try await patiently { try await engine.text("cities/a") } == "1")
    try await engine.close()
  }

  @Test("A cancelled call waits no longer for a silent server", .timeLimit(.minutes(9)))
  func cancellation() async throws {
    let server = try RedisServer()
    let plugin = RedisPlugin()
    let timeout = ["timeout": OptionValue.integer(20_000)]
    let engine = try await patiently { try await plugin.open(server.url, timeout) }
    try await patiently { try await engine.put("cities/a", "1") }
    server.pause()
    func cancelled(_ call: @escaping @Sendable () async throws -> Void) async -> CacheError? {
      let task = Task { await #expect(throws: CacheError.self) { try await call() } }
      task.cancel()
      return await task.value
    }
    // The first is sent over the connection that there is, unless it is cancelled even before; the others have none.
    let change = await cancelled { try await engine.put("cities/a", "2") }
    let isKnown = change?.message.contains("is not known") == false
    #expect(change?.code == (isKnown ? .cancelled : .unreachable), "\(change?.message ?? "")")
    #expect(await cancelled { _ = try await engine.text("cities/a") }?.code == .cancelled)
    #expect(await cancelled { _ = try await engine.keys() }?.code == .cancelled)
    #expect(await cancelled { _ = try await plugin.open(server.url, timeout) }?.code == .cancelled)
    server.resume()
    // It says nothing of the server that a caller waits no longer: others find it as it was. One that is cancelled
    // still has time for what it has to put in order.
    #expect(try await patiently { try await engine.text("cities/a") } != nil)
    try await until("a cancelled caller has removed the entry") {
      let task = Task {
        var batch = WriteBatch()
        batch.remove(try CacheKey("cities/a"))
        try await engine.apply(batch)
      }
      task.cancel()
      return await code { try await task.value } == nil
    }
    #expect(try await engine.text("cities/a") == nil)
    try await engine.close()
  }

  @Test("A server that refuses connections is asked by every call, and so is found as soon as it is back")
  func refusal() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    server.stop()
    for _ in 0..<10 { #expect(await code { _ = try await engine.text("cities/a") } == .unreachable) }
    try server.start()
    #expect(try await engine.text("cities/a") == nil)
    try await engine.close()
  }

  @Test("On a cluster a silent node keeps no store from being opened, nor the entries of others from being read")
  func cluster() async throws {
    let cluster = try RedisCluster()
    let options = try options(.cluster, cluster.url)
    let silent = try #require(try cluster.owner(of: 0, asking: cluster.nodes[0]))
    let other = try #require(
      try (0..<100).map { try CacheKey("cities/\($0)") }.first { key in
        try cluster.owner(of: options.layout.part(of: key), asking: cluster.nodes[0])?.port
          != silent.port
      })
    silent.pause()
    let engine = try await RedisPlugin(.cluster).open(cluster.url, ["timeout": .integer(30_000)])
    try await engine.put(other.text, "1")
    #expect(try await engine.text(other.text) == "1")
    silent.resume()
    try await engine.close()
  }
}
