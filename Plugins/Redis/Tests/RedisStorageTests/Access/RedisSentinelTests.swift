import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("Sentinels say which server is the master", .serialized)
struct RedisSentinelTests {
  private let plugin = RedisPlugin()

  /// A master with a replica that follows it.
  private func servers() throws -> (master: RedisServer, replica: RedisServer) {
    let settings = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]
    let master = try RedisServer(settings)
    let replica = try RedisServer(settings + ["--replicaof", "127.0.0.1", "\(master.port)"])
    try eventually("the replica follows the master") { () -> Void? in
      try replica.ask("ROLE").elements?.dropFirst(3).first?.text == "connected" ? () : nil
    }
    return (master, replica)
  }

  @Test("What was confirmed is there after the master was killed and a replica has taken its place")
  func failover() async throws {
    let (master, replica) = try servers()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let url = "redis-sentinel://127.0.0.1:1,127.0.0.1:\(sentinel.port)#main"
    let values: [String: OptionValue] = ["durability": .text("full"), "minimumReplicas": .integer(1)]
    let engine = try await plugin.open(url, values)
    for number in 0..<100 { try await engine.put("cities/\(number)", "\(number)") }
    master.stop()
    // It waits until the Sentinel has promoted the replica; nothing needs to be opened anew.
    #expect(try await engine.text("cities/7") == "7")
    #expect(try replica.ask("ROLE").elements?.first?.text == "master")
    for number in 0..<100 { #expect(try await engine.text("cities/\(number)") == "\(number)") }
    let other = try await plugin.open(url)
    try await other.put("cities/new", "1")
    #expect(try await other.keys().count == 101)
    for engine in [engine, other] { try await engine.close() }
  }

  @Test("A call that finds the master silent waits for the one that the Sentinels name in its place")
  func silence() async throws {
    let (master, replica) = try servers()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let url = "redis-sentinel://127.0.0.1:\(sentinel.port)#main"
    let engine = try await plugin.open(url, ["timeout": .integer(60_000), "connectTimeout": .integer(2_000)])
    try await engine.put("cities/a", "1")
    try eventually("the replica has the entry") { () -> Void? in
      try replica.ask("EXISTS", "cachectl:cities/a").integer == 1 ? () : nil
    }
    master.pause()
    defer { master.resume() }
    #expect(try await engine.text("cities/a") == "1")
    try await engine.close()
  }

  @Test("Mistakes and silence are told apart")
  func failures() async throws {
    let (master, replica) = try servers()
    defer { withExtendedLifetime(replica) {} }
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let hasty = ["timeout": OptionValue.integer(1_000)]
    let unknown = await code { _ = try await plugin.open("redis-sentinel://127.0.0.1:\(sentinel.port)#other") }
    #expect(unknown == .invalidOption)
    #expect(await code { _ = try await plugin.open("redis-sentinel://127.0.0.1:1#main", hasty) } == .unreachable)
    // One Sentinel that knows nothing of the master does not hide another that does.
    let stranger = try RedisServer(watching: master, replicas: 1)
    try stranger.ask("SENTINEL", "REMOVE", "main")
    let both = "redis-sentinel://127.0.0.1:\(stranger.port),127.0.0.1:\(sentinel.port)#main"
    try await plugin.open(both).close()
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
    for kind in [RedisPlugin.Kind.server, .cluster] {
      let error = await #expect(throws: CacheError.self) { try await RedisPlugin(kind).open(sentinel.url, values) }
      let url = "redis-sentinel://127.0.0.1:\(sentinel.port)#main"
      #expect(isMistake(error, "is a Sentinel", url), "\(error?.description ?? "")")
    }
    let error = await #expect(throws: CacheError.self) {
      try await plugin.open("redis-sentinel://127.0.0.1:\(server.port)#main", values)
    }
    #expect(isMistake(error, "is no Sentinel", " \(server.url)"), "\(error?.description ?? "")")
  }

  @Test("A replica that refuses a change is said to be one")
  func replica() async throws {
    let (master, replica) = try servers()
    let writer = try await plugin.open(master.url)
    try await writer.put("cities/a", "1")
    try await writer.close()
    try eventually("the replica has the entry") { () -> Void? in
      try replica.ask("EXISTS", "cachectl:cities/a").integer == 1 ? () : nil
    }
    let engine = try await plugin.open(replica.url)
    #expect(try await engine.text("cities/a") == "1")
    let error = await #expect(throws: CacheError.self) { try await engine.put("cities/a", "2") }
    #expect(error?.code == .permissionDenied && error?.message.contains("is a replica") == true)
    #expect(error?.hint.contains("master") == true && error?.hint.contains("user") == false, "\(error?.hint ?? "")")
    try await engine.close()
  }

  @Test("Under durability full a batch needs as many replicas as the option says", arguments: [true, false])
  func minimumOfReplicas(_ isThere: Bool) async throws {
    let (master, replica) = try servers()
    if !isThere {
      replica.stop()
      try eventually("the master has lost the replica") { () -> Void? in
        try master.ask("ROLE").elements?[2].elements?.isEmpty == true ? () : nil
      }
    }
    let values: [String: OptionValue] = [
      "durability": .text("full"), "minimumReplicas": .integer(1), "timeout": .integer(isThere ? patience : 500),
    ]
    let engine = try await patiently { try await plugin.open(master.url, values) }
    let found = await code { try await engine.put("cities/a", "1") }
    #expect(found == (isThere ? nil : .unreachable))
    withExtendedLifetime(replica) {}
    try await engine.close()
  }
}
