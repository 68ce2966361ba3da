import EngineAPI
import Testing

@testable import RedisStorage

@Suite("Under durability full replicas confirm each change")
struct RedisReplicaTests {
  private let server: RedisServer
  private let set = [RedisCommand("SET", "a", "1")]

  init() throws { server = try RedisServer(["--repl-diskless-sync-delay", "0"]) }

  /// Makes the change over a connection of its own, and returns the error.
  private func change(_ values: [String: OptionValue]) async throws -> CacheError? {
    let options = try options(server.url, values.merging(["durability": .text("full")]) { $1 })
    let connection = try await RedisConnection.open(server.address, options)
    defer { connection.close() }
    do throws(RedisDisconnection) {
      #expect(try await connection.sendToReplicas(set, options).map(\.text) == ["OK"])
      return nil
    } catch {
      guard case .unanswered(let error) = error else { throw error }
      return error.notingThatItMayBeDone
    }
  }

  private func follow(_ replica: RedisServer) async throws {
    try replica.ask("REPLICAOF", "127.0.0.1", "\(server.port)")
    try await until("the replica follows") {
      try server.ask("ROLE").elements?[2].elements?.count == 1
        && replica.ask("INFO", "replication").text?.contains("master_link_status:up") == true
    }
  }

  @Test("A replica that does not confirm a change is reported")
  func confirmation() async throws {
    let replica = try RedisServer()
    #expect(try await change([:]) == nil, "a server alone confirms alone")
    try await follow(replica)
    #expect(try await change([:]) == nil)
    #expect(try replica.ask("GET", "a").text == "1")
    replica.pause()
    var error: CacheError?
    try await until("the server says that the change is not confirmed") {
      error = try await change(["timeout": .integer(1_000)])
      return error?.message.contains("too few replicas") == true
    }
    #expect(error?.code == .unreachable && error?.message.contains("not known") == false)
    replica.resume()
    #expect(try await change([:]) == nil)
  }

  @Test("Fewer replicas than are wanted confirm nothing")
  func minimum() async throws {
    let wanted: [String: OptionValue] = ["minimumReplicas": .integer(1)]
    #expect(try await change(wanted)?.code == .unreachable)
    let replica = try RedisServer()
    try await follow(replica)
    #expect(try await change(wanted) == nil)
    #expect(try await change(["minimumReplicas": .integer(2)])?.code == .unreachable)
  }

  @Test("A change that the server refuses is not reported as made")
  func demoted() async throws {
    let options = try options(server.url, ["durability": .text("full")])
    let connection = try await RedisConnection.open(server.address, options)
    let nodes = try await RedisNodes.open(server.url, ["durability": .text("full")])
    let master = try RedisServer()
    try server.ask("REPLICAOF", "127.0.0.1", "\(master.port)")
    #expect(try await connection.sendToReplicas(set, options)[0].error?.word == "READONLY")
    #expect(await code { try await nodes.put("cities:a", "1") } == .permissionDenied)
    connection.close()
    nodes.close()
  }

  @Test("A change is made once, even if the connection ends before replicas have confirmed it")
  func breaking() async throws {
    let nodes = try await RedisNodes.open(
      server.url, ["durability": .text("full"), "minimumReplicas": .integer(1)])
    func changes() throws -> String? {
      let lines = try #require(try server.ask("INFO", "commandstats").text).split(whereSeparator: \.isNewline)
      return lines.first { $0.hasPrefix("cmdstat_set:") }?.split(separator: ",").first.map(String.init)
    }
    let change = Task { await code { try await nodes.put("cities:a", "1") } }
    try await until("the server has made the change") { try changes() != nil }
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    #expect(await change.value == .unreachable)
    #expect(try changes() == "cmdstat_set:calls=1")
    nodes.close()
  }
}
