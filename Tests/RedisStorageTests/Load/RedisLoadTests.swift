import EngineAPI
import Testing

@testable import RedisExerciser
@testable import RedisStorage

/// No read gets bytes that were not written, or an older change than one that was confirmed or read before, unless the test
/// says why.
@Suite("Four processes store, read, replace and remove entries", .serialized)
struct RedisLoadTests {
  private static let cluster = Result { try RedisCluster(replicas: 0) }

  /// Changes are confirmed by a master that the replica does not follow any more. They are lost: entries are older than before,
  /// but no older than what the replica had.
  @Test("A master is killed, and its replica takes its place", .timeLimit(.minutes(9)))
  func failover() async throws {
    let (master, replica) = try RedisServer.pair()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    // Nothing is replaced for having to wait for the processor.
    try sentinel.ask("SENTINEL", "SET", "main", "down-after-milliseconds", "600000")
    let load = try RedisLoad("redis-sentinel://127.0.0.1:\(sentinel.port)#main")
    try await load.goesOn()
    func offset(_ server: RedisServer) throws -> Int { try number("master_repl_offset", of: server, "replication") }
    let (confirmed, position) = (load.confirmed, try offset(master))
    try await load.until("the replica has all of this") { try offset(replica) >= position }
    for entry in load.entries { load.ledger[.replicated, entry] = confirmed[entry] }
    replica.pause()
    defer { replica.resume() }
    try master.ask("CLIENT", "KILL", "TYPE", "replica")
    let changes = load.ledger[.changes]
    try await load.until("there are changes that the replica does not have") { load.ledger[.changes] > changes + 200 }

    load.ledger[.epoch] = 1
    master.stop()
    replica.resume()
    try sentinel.ask("SENTINEL", "SET", "main", "down-after-milliseconds", "1000")
    // With the promotion, a Sentinel closes all connections of the new master, perhaps also the one of this command.
    try await load.until("the replica is the master") {
      (try? replica.ask("ROLE"))?.elements?.first?.text == "master"
    }
    load.ledger[.epoch] = 2
    let successor = try RedisServer.replica(of: replica)
    try await load.goesOn()
    #expect(load.ledger[.outdated] > 0)
    try await load.end("a failover")
    withExtendedLifetime(successor) {}
  }

  @Test("Slots are migrated: no call fails, and nothing is lost", .timeLimit(.minutes(9)))
  func reshard() async throws {
    let cluster = try Self.cluster.get()
    let load = try RedisLoad(cluster.url)
    try await load.goesOn()
    // Any of them: the order of a dictionary differs from run to run.
    let groups = Dictionary(grouping: try load.entries.map { ($0, try slot(of: $0)) }, by: \.1)
      .prefix(Load.isThorough ? .max : 4)
    for (slot, entries) in groups {
      let move = try SlotMove(cluster, slot: slot)
      try move.begin()
      for number in 0...1 {
        try move.move(limit: 3 * number)
        try await load.goesOn(with: entries.map(\.0), rounds: 1)
      }
      try move.end()
    }
    try await load.goesOn()
    #expect(load.sum(.failures) == 0)
    try await load.end("\(groups.count) slots migrated")
    try flush(cluster)
  }

  private func slot(of entry: Int) throws -> Int {
    let names = RedisNames(prefix: "cachectl", isCluster: true)
    return try #require(names.slot(of: names.name(of: try Exercise.key(entry))))
  }

  private func flush(_ cluster: RedisCluster) throws { for node in cluster.nodes { try node.ask("FLUSHALL") } }

  @Test(
    "A master without a replica is lost and comes back: the others continue; a silent one has kept everything, a killed one nothing",
    .timeLimit(.minutes(9)), arguments: [true, false])
  func loss(isSilent: Bool) async throws {
    let cluster = try Self.cluster.get()
    let load = try RedisLoad(cluster.url, timeout: 2_000)
    try await load.goesOn()
    let victim = try #require(try cluster.owner(of: try slot(of: 0), asking: cluster.nodes[0]))
    let ranges = try cluster.ranges(asking: cluster.nodes[0]).filter { $0.port == victim.port }
    var (lost, others): ([Int], [Int]) = ([], [])
    for entry in load.entries {
      let slot = try slot(of: entry)
      if ranges.contains(where: { $0.slots.contains(slot) }) { lost.append(entry) } else { others.append(entry) }
    }
    try #require(!others.isEmpty)
    for entry in lost where !isSilent { load.ledger[.vanishes, entry] = 1 }
    let before = load.sum(.failures, of: lost)
    if isSilent { victim.pause() } else { victim.stop() }
    defer { victim.resume() }
    try await load.until("calls for the lost entries fail") { load.sum(.failures, of: lost) > before + 20 }
    try await load.goesOn(with: others)
    if isSilent {
      victim.resume()
    } else {
      let confirmed = load.confirmed
      for entry in lost { load.ledger[.gone, entry] = confirmed[entry] }
      try victim.start()
    }
    try await load.goesOn()
    let failures = load.sum(.failures, of: others)
    try await load.end("a \(isSilent ? "silent" : "killed") master, \(failures) failures for the others")
    try flush(cluster)
  }

  @Test("A server is emptied again and again: reads find only later writes", .timeLimit(.minutes(9)))
  func flushed() async throws {
    let server = try RedisServer()
    let load = try RedisLoad(server.url)
    for entry in load.entries { load.ledger[.vanishes, entry] = 1 }
    for _ in 0..<5 {
      try await load.goesOn()
      let confirmed = load.confirmed
      try server.ask("FLUSHALL")
      for entry in load.entries { load.ledger[.gone, entry] = confirmed[entry] }
    }
    try await load.goesOn()
    #expect(load.sum(.failures) == 0)
    try await load.end("FLUSHALL")
  }

  @Test(
    "A server at the limit of its memory evicts, and nothing fails", .timeLimit(.minutes(9)),
    arguments: ["allkeys-lru"] + (Load.isThorough ? ["allkeys-lfu", "allkeys-random", "volatile-ttl"] : []))
  func evicting(_ policy: String) async throws {
    let (server, load) = try small(policy)
    for entry in load.entries { load.ledger[.vanishes, entry] = 1 }
    let least = Load.isThorough ? 20_000 : 500
    try await load.until("the server has evicted") { try self.number("evicted_keys", of: server, "stats") > least }
    try await load.goesOn(rounds: 1)
    #expect(load.sum(.failures) == 0 && load.ledger[.found] > 0 && load.ledger[.absent] > 0)
    // The last check visits all listed entries.
    try server.ask("CONFIG", "SET", "maxmemory", "0")
    try await load.end("eviction by \(policy)")
  }

  @Test(
    "A server at the limit that evicts nothing refuses changes and loses nothing, and a refused read is not a miss",
    .timeLimit(.minutes(9)))
  func full() async throws {
    let (server, load) = try small("noeviction")
    try await load.until("changes are refused") { load.sum(.failures) > 500 }
    let changes = load.ledger[.changes]
    try await load.until("removals make room for others") { load.ledger[.changes] > changes + 500 }
    try server.ask("ACL", "SETUSER", "default", "-@read")
    let failures = load.sum(.failures)
    try await load.until("reads are refused") { load.sum(.failures) > failures + 500 }
    try server.ask("ACL", "SETUSER", "default", "+@all")
    try await load.end("a full server")
    #expect(load.failures == ["noSpace", "permissionDenied"])
  }

  /// A server with half of the memory that the entries need.
  private func small(_ policy: String) throws -> (RedisServer, RedisLoad) {
    let server = try RedisServer(["--maxmemory", "4mb", "--maxmemory-policy", policy])
    return (server, try RedisLoad(server.url, entries: 600, maxBytes: 16_000))
  }

  /// A number that a section of INFO has.
  private func number(_ name: String, of server: RedisServer, _ section: String) throws -> Int {
    let lines = try server.ask("INFO", section).text?.split(whereSeparator: \.isNewline) ?? []
    let line = lines.first { $0.hasPrefix(name + ":") }
    return try #require(line.flatMap { Int($0.dropFirst(name.utf8.count + 1)) })
  }
}
