import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A server comes and goes, refuses, and forgets")
struct RedisServerTests {
  private let plugin = RedisPlugin()

  /// A server that lets a change wait for ten minutes, its engine, and the change.
  private func waitingPut() async throws -> (RedisServer, any StorageEngine, Task<Void, any Error>) {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "1")
    try server.ask("CLIENT", "PAUSE", "600000", "WRITE")
    let writing = Task { try await engine.put("cities/a", "2") }
    try await until("the call waits") {
      try server.ask("INFO", "clients").text?.contains("blocked_clients:1\r\n") == true
    }
    return (server, engine, writing)
  }

  @Test("Without a server opening fails; with one that stops and starts again the engine goes on")
  func comesAndGoes() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "before")
    server.stop()
    #expect(await code { _ = try await engine.text("cities/a") } == .unreachable)
    #expect(await code { try await engine.put("cities/a", "between") } == .unreachable)
    #expect(await code { _ = try await plugin.open(server.url) } == .unreachable)
    try server.start()
    #expect(try await engine.text("cities/a") == nil)
    try await engine.put("cities/a", "after")
    #expect(try await engine.text("cities/a") == "after")
    try await engine.close()
  }

  @Test("A server on a socket is used like any other")
  func socket() async throws {
    let path = "/tmp/cachectl-\(UUID().uuidString.prefix(8)).sock"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let server = try RedisServer(["--unixsocket", path])
    let engine = try await plugin.open("unix://\(path)?db=3")
    try await engine.put("cities/a", "1")
    #expect(try await engine.text("cities/a") == "1")
    #expect(try server.cli("-n", "3", "EXISTS", "cachectl:cities/a") == "1")
    let values = patient("unix://\(path)?db=3")
    let configuration = try EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock())
    #expect(try await plugin.inspect(configuration).path == "unix://\(path)?db=3 (cachectl)")
    server.stop()
    let error = await #expect(throws: CacheError.self) { _ = try await engine.text("cities/a") }
    #expect(error?.code == .unreachable && error?.message.contains(path) == true)
    try await engine.close()
  }

  @Test("A call that is under way when the store is closed ends as if it were not")
  func closing() async throws {
    let (server, engine, writing) = try await waitingPut()
    let closing = Task { try await engine.close() }
    try await until("no other call is taken") { await code { _ = try await engine.text("cities/a") } == .closed }
    // So that the call needs more than one answer.
    try server.ask("SCRIPT", "FLUSH")
    try server.ask("CLIENT", "UNPAUSE")
    try await writing.value
    try await closing.value
    #expect(try server.ask("GETRANGE", "cachectl:cities/a", "0", "0").text == "2")
  }

  @Test("What a server forgets or closes is made good without an error")
  func forgets() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "1")
    try server.ask("SCRIPT", "FLUSH")
    try await engine.put("cities/a", "2")
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    try await engine.put("cities/a", "3")
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    #expect(try await engine.text("cities/a") == "3")
    try await engine.close()
  }

  @Test("A server that says nothing is unreachable when the time is over")
  func saysNothing() async throws {
    let server = try RedisServer()
    let engine = try await patiently { try await plugin.open(server.url, ["timeout": .integer(200)]) }
    try server.ask("CLIENT", "PAUSE", "600000")
    let error = await #expect(throws: CacheError.self) { try await engine.put("cities/a", "1") }
    #expect(error?.code == .unreachable)
    #expect(error?.message.contains("is not known") == true, "\(error?.message ?? "")")
    try await engine.close()
  }

  @Test("Under durability full a change that no replica confirms is not reported as done")
  func confirmation() async throws {
    let (server, replica) = (try RedisServer(["--repl-diskless-sync-delay", "0"]), try RedisServer())
    let engine = try await plugin.open(server.url, ["durability": .text("full")])
    let hasty = try await patiently {
      try await plugin.open(server.url, ["durability": .text("full"), "timeout": .integer(1_000)])
    }
    try await engine.put("cities/a", "alone")
    try replica.ask("REPLICAOF", "127.0.0.1", "\(server.port)")
    try await until("the replica follows") {
      try server.ask("ROLE").elements?[2].elements?.count == 1 && replica.ask("DBSIZE").integer ?? 0 > 0
    }
    try await engine.put("cities/a", "both")
    #expect(try replica.ask("GETRANGE", "cachectl:cities/a", "0", "3").text == "both")
    replica.pause()
    let error = await #expect(throws: CacheError.self) { try await hasty.put("cities/a", "unconfirmed") }
    #expect(error?.code == .unreachable)
    replica.resume()
    try await engine.put("cities/a", "again")
    #expect(try replica.ask("GETRANGE", "cachectl:cities/a", "0", "4").text == "again")
    for engine in [engine, hasty] { try await engine.close() }
  }

  @Test("A change whose answer was lost is not said to have failed where the server then refuses the user")
  func lostAndRefused() async throws {
    let (server, _, writing) = try await waitingPut()
    let witness = try server.connection()
    _ = try witness.exchange([
      RedisCommand("CONFIG", "SET", "requirepass", "secret"), RedisCommand("CLIENT", "KILL", "TYPE", "normal"),
    ])
    let error = await #expect(throws: CacheError.self) { try await writing.value }
    #expect(error?.code == .permissionDenied)
    #expect(error?.message.contains("is not known") == true, "\(error?.message ?? "")")
  }

  @Test(
    "A batch that is sent again because its answer was lost is applied once",
    arguments: [RedisPlugin.Kind.server, .evictingServer])
  func sentAgain(_ kind: RedisPlugin.Kind) throws {
    let server = try RedisServer()
    let store = RedisStore(try options(kind, server.url))
    let key = try CacheKey("leases/a")
    var batch = WriteBatch()
    batch.require(key, .absent)
    batch.put(key, payload: [1], metadata: .sample())
    let application = store.application(try RedisBatch(batch), part: 0, .apply(nil))
    for _ in 0..<2 {
      let verdict = application.verdict(try store.router.perform(application.request(store.options)))
      guard case .done? = verdict?.outcome else {
        Issue.record("a batch that was applied is judged again")
        return
      }
    }
    let error = #expect(throws: CacheError.self) { try store.apply(try RedisBatch(batch)) }
    #expect(error?.code == .conflict)
  }

  @Test("A batch that is sent again undoes nothing that others have done since", arguments: [true, false])
  func sentAgainLater(_ isPut: Bool) throws {
    let server = try RedisServer()
    let store = RedisStore(try options(.server, server.url))
    let key = try CacheKey("leases/a")
    var (first, second) = (WriteBatch(), WriteBatch())
    if isPut { first.put(key, payload: [1], metadata: .sample(checksum: 1)) } else { first.remove(key) }
    second.require(key, isPut ? .checksum(1) : .absent)
    second.put(key, payload: [2, 2], metadata: .sample(checksum: 2))
    let bounds = StoreBounds(maxEntries: 1, maxPayloadBytes: 1)
    let application = store.application(
      try RedisBatch(first), part: 0, .apply(RedisBounds(bounds: bounds)))
    for isAgain in [false, true] {
      let verdict = application.verdict(try store.router.perform(application.request(store.options)))
      guard case .done? = verdict?.outcome else {
        Issue.record("a batch that was applied is judged again")
        return
      }
      if !isAgain { try store.apply(try RedisBatch(second)) }
    }
    #expect(try store.entry(key)?.metadata.checksum == 2)
  }

  @Test("The name of a batch that may be sent again for long is not forgotten for others that may not")
  func remembered() async throws {
    let server = try RedisServer()
    let (patient, hasty) = (
      try await plugin.open(server.url), try await plugin.open(server.url, ["timeout": .integer(60_000)])
    )
    for engine in [patient, hasty] {
      try await engine.put("cities/a", "1")
      var batch = WriteBatch()
      batch.remove(try CacheKey("cities/a"))
      try await engine.apply(batch)
      let left = try #require(try server.ask("PTTL", "cachectl:tally").integer)
      #expect((1_100_000...1_201_000).contains(left), "\(left) ms")
    }
    try await patient.close()
    try await hasty.close()
  }

  @Test("A server remembers the last batch of a writer, and not each for a minute")
  func names() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for number in 0..<50 { try await engine.put("cities/a", "\(number)") }
    let fields = try #require(try server.ask("HKEYS", "cachectl:tally").elements).compactMap(\.text)
    #expect(fields.count { $0.hasPrefix("@") } <= 2, "\(fields)")
    try await engine.close()
  }

  @Test("What is at the address must be what the engine is for")
  func kinds() async throws {
    let (alone, node) = (try RedisServer(), try RedisServer(["--cluster-enabled", "yes"]))
    #expect(await code { _ = try await plugin.open(node.url) } == .invalidOption)
    #expect(await code { _ = try await RedisPlugin(.cluster).open(alone.url) } == .invalidOption)
    try alone.ask("HSET", "cachectl:tally", "format", "3")
    #expect(await code { _ = try await plugin.open(alone.url) } == .unsupportedFormat)
  }
}
