import Foundation
import EngineAPI
import Testing

@testable import RedisStorage

@Suite("Changes of others are followed")
struct RedisFollowerTests {
  private let key: CacheKey
  /// Other keys, none of which shares a counter with `key`.
  private let others: [CacheKey]

  init() throws {
    let key = try CacheKey("cities/a")
    self.key = key
    others = try (0..<300).map { try CacheKey("cities/\($0)") }
      .filter { RedisMarks.stripe(of: $0) != RedisMarks.stripe(of: key) }
  }

  /// The mark of `key`, or of another one, as soon as there is one.
  private func mark(_ nodes: RedisNodes, of key: CacheKey? = nil) async throws -> ChangeMark {
    var mark: ChangeMark?
    try await until("there is a mark") {
      mark = nodes.changeMark(of: key ?? self.key, nodes.names)
      return mark != nil
    }
    return try #require(mark)
  }

  /// Waits until all messages about changes so far have arrived: the server sends the response to a later request after
  /// them.
  private func settle(_ nodes: RedisNodes, of key: CacheKey? = nil) async throws {
    let start = ContinuousClock.now
    try await until("the store was followed until now") {
      let elapsed = start.duration(to: .now)
      return nodes.changeMark(of: key ?? self.key, nodes.names).map { $0.age < elapsed } ?? false
    }
  }

  private func put(_ nodes: RedisNodes, _ key: CacheKey, _ text: String = "1") async throws {
    try await nodes.put(nodes.names.name(of: key), text)
  }

  /// The number of connections that follow a store on `server`.
  private func followers(_ server: RedisServer) throws -> Int {
    try #require(try server.ask("CLIENT", "LIST", "TYPE", "pubsub").text).split(whereSeparator: \.isNewline).count
  }

  /// A change of the entry under `key`.
  enum Change: CaseIterable {
    case put, replacement, removal, expiry, script, eviction, flush, flushOfAll, renaming
  }

  @Test(
    "Whatever changes an entry changes the mark of its key, and of no other unless all are removed",
    arguments: Change.allCases)
  func changes(_ change: Change) async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    let name = nodes.names.name(of: key)
    if change != .put { try server.ask("SET", name, "1") }
    let before = try await mark(nodes)
    let other = try await mark(nodes, of: others[0])
    switch change {
    case .put, .replacement: try server.ask("SET", name, "2")
    case .removal: try server.ask("DEL", name)
    case .expiry: try server.ask("PEXPIRE", name, "1")
    case .script: try server.ask("EVAL", "redis.call('SETRANGE', KEYS[1], 0, 'x')", "1", name)
    case .eviction:
      try server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
      try server.ask("CONFIG", "SET", "maxmemory", "1")
    case .flush: try server.ask("FLUSHDB")
    case .flushOfAll: try server.ask("FLUSHALL")
    case .renaming: try server.ask("RENAME", name, "elsewhere")
    }
    try await until("the mark is another") { try await mark(nodes).number != before.number }
    try await settle(nodes)
    let after = try await mark(nodes)
    try await settle(nodes)
    #expect(try await mark(nodes).number == after.number)
    let isOfAll = [.flush, .flushOfAll].contains(change)
    #expect(try await (mark(nodes, of: others[0]).number != other.number) == isOfAll)
    nodes.close()
  }

  @Test("Other entries, other stores and reads leave a mark as it is")
  func unrelated() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    let stranger = try await RedisNodes.open(server.url, ["prefix": .text("elsewhere")])
    try await put(nodes, key)
    let before = try await mark(nodes)
    for other in others { try await put(nodes, other) }
    try await put(stranger, key)
    _ = try await nodes.text(nodes.names.name(of: key))
    try server.ask("SET", "cachectl:", "no entry")
    try server.ask("SET", "cities/a", "no entry")
    try await settle(nodes)
    #expect(try await mark(nodes).number == before.number)
    for nodes in [nodes, stranger] { nodes.close() }
  }

  @Test("Without a connection there is no mark, and then another one")
  func restart() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    let before = try await mark(nodes)
    server.stop()
    try await until("the loss is noticed") { nodes.changeMark(of: key, nodes.names) == nil }
    try server.start()
    #expect(try await mark(nodes).number != before.number)
    // A connection that is only replaced may have missed changes too.
    let between = try await mark(nodes)
    try server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    try await until("all numbers are others") {
      nodes.changeMark(of: key, nodes.names).map { $0.number != between.number } ?? false
    }
    nodes.close()
  }

  @Test("A mark is as old as the last sign of life of the server")
  func age() async throws {
    let server = try RedisServer()
    let nodes = try await RedisNodes.open(server.url)
    let before = try await mark(nodes)
    server.pause()
    try await until("the mark grows old") { try await mark(nodes).age > .seconds(3) }
    server.resume()
    try await settle(nodes)
    #expect(try await mark(nodes).number == before.number)
    nodes.close()
  }

  @Test("A server that is silent for too long is left, and found again when it answers")
  func silence() async throws {
    let server = try RedisServer()
    let nodes = try await patiently { try await RedisNodes.open(server.url, ["timeout": .integer(500)]) }
    let before = try await mark(nodes)
    server.pause()
    try await until("the silence is noticed") { nodes.changeMark(of: key, nodes.names) == nil }
    server.resume()
    #expect(try await mark(nodes).number != before.number)
    nodes.close()
  }

  @Test("A user who may not subscribe has no mark, and can write")
  func permissions() async throws {
    let server = try RedisServer([
      "--user", "closed", "on", "nopass", "'~*'", "resetchannels", "+@all",
      "--user", "deaf", "on", "nopass", "'~*'", "'&*'", "+@all", "'-client|tracking'",
    ])
    for user in ["closed", "deaf"] {
      let nodes = try await RedisNodes.open(server.url, ["user": .text(user)])
      let denied = try #require(try server.ask("INFO", "errorstats").text)
      #expect(nodes.changeMark(of: key, nodes.names) == nil)
      try await until("the server has refused \(user)") { try server.ask("INFO", "errorstats").text != denied }
      try await put(nodes, key)
      #expect(nodes.changeMark(of: key, nodes.names) == nil)
      nodes.close()
    }
  }

  @Test("A store follows only after a question for a mark, and until it is closed", arguments: [true, false])
  func lifetime(_ isClosed: Bool) async throws {
    let server = try RedisServer()
    var nodes: RedisNodes? = try await RedisNodes.open(server.url)
    try await put(#require(nodes), key)
    #expect(try followers(server) == 0)
    _ = try await mark(#require(nodes))
    #expect(try followers(server) == 1)
    if isClosed {
      nodes?.close()
      #expect(nodes.map { $0.changeMark(of: key, $0.names) } == .some(nil))
    } else {
      nodes = nil
    }
    try await until("the connection is gone") { try followers(server) == 0 }
    #expect(nodes?.changeMark(of: key, RedisNames(prefix: "cachectl", isCluster: false)) == nil)
  }

  @Test("Following ends with the store while the server is away or silent", arguments: [true, false])
  func closedWhileAway(_ isSilent: Bool) async throws {
    let server = try RedisServer()
    var nodes: RedisNodes? = try await RedisNodes.open(server.url)
    _ = try await mark(#require(nodes))
    weak let node = nodes?.master(of: nil)
    if isSilent { server.pause() } else { server.stop() }
    try await until("nothing comes any more") {
      try #require(nodes).changeMark(of: key, RedisNames(prefix: "cachectl", isCluster: false)).map {
        $0.age > .seconds(2)
      } ?? true
    }
    nodes?.close()
    nodes = nil
    try await until("nobody uses the node") { node == nil }
    server.resume()
  }

  @Test("A follower moves to the master that the Sentinels name")
  func failover() async throws {
    let (master, replica) = try RedisServer.pair()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let url = "redis-sentinel://127.0.0.1:\(sentinel.port)#main"
    let (nodes, other) = (try await RedisNodes.open(url), try await RedisNodes.open(url))
    let before = try await mark(nodes)
    master.stop()
    // The next call finds the new master.
    #expect(try await nodes.text("cities") == nil)
    let between = try await mark(nodes)
    #expect(between.number != before.number)
    try await put(other, key)
    try await until("the mark is another") { try await mark(nodes).number != between.number }
    for nodes in [nodes, other] { nodes.close() }
    withExtendedLifetime(replica) {}
  }

  @Test("A master that has become a replica is followed no more, although it answers")
  func demotion() async throws {
    let (master, replica) = try RedisServer.pair()
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let nodes = try await RedisNodes.open("redis-sentinel://127.0.0.1:\(sentinel.port)#main")
    let before = try await mark(nodes)
    try replica.ask("REPLICAOF", "NO", "ONE")
    try master.ask("REPLICAOF", "127.0.0.1", "\(replica.port)")
    try await until("the change is noticed") {
      nodes.changeMark(of: key, nodes.names).map { $0.number != before.number } ?? true
    }
    nodes.close()
  }

  @Test("On a cluster each master is followed for its part, and one that is lost takes no mark from the others")
  func cluster() async throws {
    let cluster = try RedisCluster(replicas: 0)
    let nodes = try await RedisNodes.open(cluster.url)
    let other = try await RedisNodes.open(cluster.url)
    func owner(_ key: CacheKey) -> RedisAddress? {
      nodes.master(of: nodes.names.slot(of: nodes.names.name(of: key)))?.address
    }
    // Of each master a key, none of which share a counter.
    let keys = try cluster.nodes.map { node in try #require(others.first { owner($0) == node.address }) }
    try #require(Set(keys.map(RedisMarks.stripe)).count == 3)
    for key in keys {
      let before = try await mark(nodes, of: key)
      try await put(other, key)
      try await until("the mark is another") { try await mark(nodes, of: key).number != before.number }
    }
    // Each that begins to be followed may have changed the numbers of all.
    for key in keys { try await settle(nodes, of: key) }
    var marks: [ChangeMark] = []
    for key in keys { marks.append(try await mark(nodes, of: key)) }
    cluster.nodes[0].stop()
    try await until("the loss is noticed") { nodes.changeMark(of: keys[0], nodes.names) == nil }
    for index in 1...2 {
      #expect(nodes.changeMark(of: keys[index], nodes.names)?.number == marks[index].number)
      try await settle(nodes, of: keys[index])
    }
    try cluster.nodes[0].start()
    #expect(try await mark(nodes, of: keys[0]).number != marks[0].number)
    for nodes in [nodes, other] { nodes.close() }
  }

  @Test(
    "An entry on the node to which a slot is migrated gets another mark, and again when the slot has moved"
  )
  func migration() async throws {
    let cluster = try RedisCluster(replicas: 0)
    let nodes = try await RedisNodes.open(cluster.url)
    let name = nodes.names.name(of: key)
    let slot = try #require(nodes.names.slot(of: name))
    let before = try await mark(nodes)
    let source = try #require(try cluster.owner(of: slot, asking: cluster.nodes[0]))
    let target = try #require(cluster.nodes.first { $0.port != source.port })
    let identifiers = try [source, target].map { try #require(try $0.ask("CLUSTER", "MYID").text) }
    try target.ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", identifiers[0])
    try source.ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", identifiers[1])
    #expect(try await nodes.text(name) == nil)
    let between = try await mark(nodes)
    #expect(between.number != before.number)
    try await put(nodes, key)
    for node in [target, source] { try node.ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", identifiers[1]) }
    #expect(try await nodes.text(name) == "1")
    #expect(try await ![before.number, between.number].contains(mark(nodes).number))
    nodes.close()
  }
}
