import EngineAPI
import Testing

@testable import RedisStorage

@Suite("A server comes and goes, refuses, and forgets")
struct RedisServerTests {
  /// A server that lets a change wait for ten minutes, its nodes, and the change.
  private func waitingPut() async throws -> (RedisServer, RedisNodes, Task<Void, any Error>) {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    try await nodes.put("cities:a", "1")
    try server.ask("CLIENT", "PAUSE", "600000", "WRITE")
    let writing = Task { try await nodes.put("cities:a", "2") }
    try await until("the call waits") {
      try server.ask("INFO", "clients").text?.contains("blocked_clients:1\r\n") == true
    }
    return (server, nodes, writing)
  }

  @Test("Without a server opening fails; once it is back, nothing needs to be opened again")
  func comesAndGoes() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    try await nodes.put("cities:a", "before")
    server.stop()
    #expect(await code { _ = try await nodes.text("cities:a") } == .unreachable)
    #expect(await code { try await nodes.put("cities:a", "between") } == .unreachable)
    #expect(await code { _ = try await RedisNodes.open(server.url) } == .unreachable)
    try server.start()
    #expect(try await nodes.text("cities:a") == nil)
    try await nodes.put("cities:a", "after")
    #expect(try await nodes.text("cities:a") == "after")
    nodes.close()
  }

  @Test("A connection that the server ended while it was idle is replaced without an error")
  func forgets() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    for number in 0..<20 {
      try await nodes.put("cities:a", "\(number)")
      try server.ask("CLIENT", "KILL", "TYPE", "normal")
      if number % 2 == 0 { #expect(try await nodes.text("cities:a") == "\(number)") }
    }
    nodes.close()
  }

  @Test("A change whose reply was lost is not sent again, and the error says that it may have been made")
  func lostReply() async throws {
    let (server, nodes, writing) = try await waitingPut()
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    let error = await #expect(throws: CacheError.self) { try await writing.value }
    #expect(error?.code == .unreachable)
    #expect(error?.message.contains("is not known") == true, "\(error?.message ?? "")")
    try server.ask("CLIENT", "UNPAUSE")
    #expect(try await nodes.text("cities:a") == "1")
    nodes.close()
  }

  @Test("A read whose reply was lost is sent again")
  func lostRead() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    // The only way to have a server keep a reply back from one client alone.
    let reading = Task { try await nodes.send([RedisCommand("BLPOP", "list", "0")], slot: nil, isRead: true) }
    func untilItWaits() async throws {
      try await until("the call waits") {
        try server.ask("INFO", "clients").text?.contains("blocked_clients:1\r\n") == true
      }
    }
    try await untilItWaits()
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    try await untilItWaits()
    try server.ask("LPUSH", "list", "1")
    #expect(try await reading.value[0].elements?.last?.text == "1")
    nodes.close()
  }

  @Test("A call waits for a server that is loading its data")
  func loading() async throws {
    // It loads a hundred keys in a second, until it is told to continue.
    let server = try RedisServer([
      "--enable-debug-command", "yes", "--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024",
    ])
    try server.ask("EVAL", "for i = 1, 20000 do redis.call('SET', 'cities:' .. i, string.rep('x', 100)) end", "0")
    let nodes = try await RedisNodes.open(server.url)
    let connection = try await RedisConnection.open(server.address, nodes.options)
    let loading = Task { try await connection.send([RedisCommand("DEBUG", "RELOAD")]) }
    try await until("the server is loading") {
      try server.ask("INFO", "persistence").text?.contains("\r\nloading:1\r\n") == true
    }
    let writing = Task { try await nodes.put("cities:1", "1") }
    try await until("the call is refused") {
      try server.ask("INFO", "errorstats").text?.contains("errorstat_LOADING") == true
    }
    try server.ask("CONFIG", "SET", "key-load-delay", "0")
    try await writing.value
    #expect(try await nodes.text("cities:1") == "1")
    #expect(try await loading.value[0].text == "OK")
    connection.close()
    nodes.close()
  }
}
