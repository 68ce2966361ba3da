import EngineAPI
import Testing

@testable import RedisStorage

@Suite("A silent server delays a caller only once")
struct RedisSilenceTests {
  @Test("Once it was silent calls fail at once, until it answers in the background")
  func failsFast() async throws {
    let server = try RedisServer()
    let nodes = try await patiently { try await RedisNodes.open(server.url, ["timeout": .integer(300)]) }
    try await patiently { try await nodes.put("cities:a", "1") }
    server.pause()
    let first = await #expect(throws: CacheError.self) { try await nodes.put("cities:a", "2") }
    #expect(first?.code == .unreachable && first?.message.contains("is not known") == true, "\(first?.message ?? "")")
    for _ in 0..<100 {
      let error = await #expect(throws: CacheError.self) { try await nodes.put("cities:a", "2") }
      #expect(error?.code == .unreachable)
      #expect(error?.message.contains("again in the background") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("not known") == false, "nothing was sent")
    }
    server.resume()
    #expect(try await patiently { try await nodes.text("cities:a") } != nil)
    nodes.close()
  }

  @Test("A cancelled call waits no longer for a silent server, and later ones find the server as it was")
  func cancellation() async throws {
    let server = try RedisServer()
    let nodes = try await patiently { try await RedisNodes.open(server.url, ["timeout": .integer(20_000)]) }
    try await patiently { try await nodes.put("cities:a", "1") }
    server.pause()
    func cancelled(_ call: @escaping @Sendable () async throws -> Void) async -> CacheError? {
      let task = Task { await #expect(throws: CacheError.self) { try await call() } }
      task.cancel()
      return await task.value
    }
    let change = await cancelled { try await nodes.put("cities:a", "2") }
    #expect(
      change?.code == .unreachable && change?.message.contains("is not known") == true, "\(change?.message ?? "")")
    #expect(await cancelled { _ = try await nodes.text("cities:a") }?.code == .cancelled)
    #expect(
      await cancelled { _ = try await RedisNodes.open(server.url, ["timeout": .integer(20_000)]) }?.code == .cancelled)
    server.resume()
    #expect(try await patiently { try await nodes.text("cities:a") } != nil)
    nodes.close()
  }

  @Test("Every call tries a server that refuses connections, and so finds it as soon as it is back")
  func refusal() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    server.stop()
    for _ in 0..<10 { #expect(await code { _ = try await nodes.text("cities:a") } == .unreachable) }
    try server.start()
    #expect(try await nodes.text("cities:a") == nil)
    nodes.close()
  }

  @Test("A connection is opened once for all calls that wait for it")
  func shared() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    func opened() throws -> Int {
      let lines = try #require(try server.ask("INFO", "stats").text).split(whereSeparator: \.isNewline)
      return try #require(lines.first { $0.hasPrefix("total_connections_received:") }.flatMap { Int($0.dropFirst(27)) })
    }
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    let before = try opened()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 { group.addTask { try await nodes.put("cities:\(number)", "1") } }
      try await group.waitForAll()
    }
    // One is the connection of this command itself.
    #expect(try opened() == before + 2)
    nodes.close()
  }

  @Test("A server that was down has one connection again, and calls over the former one end as they would")
  func reopened() async throws {
    let server = try RedisServer()
    let node = RedisNode(server.address, try options(server.url), RedisMarks(), isReplaceable: false)
    let former = try await node.connection()
    node.markDown()
    try await until("the server is found again") { !node.isDown }
    let current = try await node.connection()
    #expect(current !== former && current.isOpen)
    #expect(try await former.send([RedisCommand("PING")])[0].text == "PONG")
    #expect(try await node.connection() === current)
    node.close()
    #expect(!current.isOpen)
    former.close()
  }
}
