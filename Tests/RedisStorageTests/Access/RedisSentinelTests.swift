import EngineAPI
import Testing

@testable import RedisStorage

@Suite("Sentinels say which server is the master")
struct RedisSentinelTests {
  @Test("A call waits for the replica that takes the place of a killed master")
  func failover() async throws {
    let (master, replica) = try RedisServer.pair()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let nodes = try await RedisNodes.open("redis-sentinel://127.0.0.1:1,127.0.0.1:\(sentinel.port)#main")
    for number in 0..<100 { try await nodes.put("cities:\(number)", "\(number)") }
    #expect(try await nodes.send([RedisCommand("WAIT", "1", "60000")], slot: nil, isRead: true)[0].integer == 1)
    master.stop()
    // Nothing needs to be opened again.
    #expect(try await nodes.text("cities:7") == "7")
    #expect(try replica.ask("ROLE").elements?.first?.text == "master")
    for number in 0..<100 { #expect(try await nodes.text("cities:\(number)") == "\(number)") }
    try await nodes.put("cities:new", "1")
    #expect(try await nodes.masters().map(\.address) == [replica.address])
    nodes.close()
  }

  @Test("A call that finds the master silent waits for the one that the Sentinels name in its place")
  func silence() async throws {
    let (master, replica) = try RedisServer.pair()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let nodes = try await RedisNodes.open(
      "redis-sentinel://127.0.0.1:\(sentinel.port)#main",
      ["timeout": .integer(40_000), "connectTimeout": .integer(2_000)])
    try await nodes.put("cities:a", "1")
    try eventually("the replica has the entry") { () -> Void? in
      try replica.ask("EXISTS", "cities:a").integer == 1 ? () : nil
    }
    master.pause()
    defer { master.resume() }
    #expect(try await nodes.text("cities:a") == "1")
    nodes.close()
  }

  @Test("A master that becomes a replica is left for the new one, also by a write that it refuses")
  func demotion() async throws {
    let (master, replica) = try RedisServer.pair()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let nodes = try await RedisNodes.open("redis-sentinel://127.0.0.1:\(sentinel.port)#main")
    try await nodes.put("cities:a", "1")
    try eventually("the Sentinel makes the replica the master") { () -> Void? in
      try sentinel.ask("SENTINEL", "FAILOVER", "main").text == "OK" ? () : nil
    }
    try await until("the old master is a replica") { (try? master.ask("ROLE"))?.elements?.first?.text == "slave" }
    try await until("the new one takes writes") { await code { try await nodes.put("cities:a", "2") } == nil }
    #expect(try replica.ask("GET", "cities:a").text == "2")
    nodes.close()
  }

  @Test("Mistakes and silence are told apart, and one Sentinel that knows nothing hides no other that does")
  func failures() async throws {
    let (master, replica) = try RedisServer.pair()
    defer { withExtendedLifetime(replica) {} }
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let hasty = ["timeout": OptionValue.integer(1_000)]
    let unknown = await code { _ = try await RedisNodes.open("redis-sentinel://127.0.0.1:\(sentinel.port)#other") }
    #expect(unknown == .invalidOption)
    #expect(await code { _ = try await RedisNodes.open("redis-sentinel://127.0.0.1:1#main", hasty) } == .unreachable)
    let stranger = try RedisServer(watching: master, replicas: 1)
    try stranger.ask("SENTINEL", "REMOVE", "main")
    try await RedisNodes.open("redis-sentinel://127.0.0.1:\(stranger.port),127.0.0.1:\(sentinel.port)#main").close()
    let silent = try RedisServer(watching: master, replicas: 1)
    silent.pause()
    defer { silent.resume() }
    let url = "redis-sentinel://127.0.0.1:\(silent.port),127.0.0.1:\(sentinel.port)#main"
    // The engine waits for the silent server, and then tries another one.
    try await patiently { try await RedisNodes.open(url, hasty).close() }
  }

  /// Whether `error` is a mistake in the URL, and its text has `words`.
  private func isMistake(_ error: CacheError?, _ words: String...) -> Bool {
    error?.code == .invalidOption && words.allSatisfy { error?.description.contains($0) == true }
  }

  @Test(
    "A Sentinel in the place of a server, or the other way round, is a mistake in the URL", arguments: [true, false])
  func mixedUp(_ hasPassword: Bool) async throws {
    let server = try RedisServer()
    let sentinel = try RedisServer(watching: server, replicas: 0)
    let values = hasPassword ? ["password": OptionValue.text("x")] : [:]
    var error = await #expect(throws: CacheError.self) { try await RedisNodes.open(sentinel.url, values) }
    let url = "redis-sentinel://127.0.0.1:\(sentinel.port)#main"
    #expect(isMistake(error, "is a Sentinel", url), "\(error?.description ?? "")")
    error = await #expect(throws: CacheError.self) {
      try await RedisNodes.open("redis-sentinel://127.0.0.1:\(server.port)#main")
    }
    #expect(isMistake(error, "is not a Sentinel", " \(server.url)"), "\(error?.description ?? "")")
  }

  @Test("A replica that is named as a server can be read from, and refuses changes")
  func replica() async throws {
    let (master, replica) = try RedisServer.pair()
    try master.ask("SET", "cities:a", "1")
    try eventually("the replica has the entry") { () -> Void? in
      try replica.ask("EXISTS", "cities:a").integer == 1 ? () : nil
    }
    let nodes = try await RedisNodes.open(replica.url)
    #expect(try await nodes.text("cities:a") == "1")
    let error = await #expect(throws: CacheError.self) { try await nodes.put("cities:a", "2") }
    #expect(error?.code == .permissionDenied && error?.message.contains("is a replica") == true)
    #expect(error?.hint.contains("master") == true && error?.hint.contains("user") == false, "\(error?.hint ?? "")")
    nodes.close()
  }
}
