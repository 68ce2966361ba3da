import EngineAPI
import Synchronization
import Testing

@testable import RedisStorage

/// How often a writer has written everything, and whether it is to stop.
private final class Progress: Sendable {
  private let state = Mutex((rounds: 0, isOver: false))

  var isOver: Bool { state.withLock { $0.isOver } }
  var rounds: Int { state.withLock { $0.rounds } }

  func note(rounds: Int) { state.withLock { $0.rounds = rounds } }
  func end() { state.withLock { $0.isOver = true } }
}

@Suite("Slots of a cluster are migrated", .serialized)
struct RedisMigrationTests {
  private static let cluster = Result { try RedisCluster() }

  /// `count` names in `slot`, beginning with `text`.
  private func names(_ count: Int, slot: Int, _ text: String) -> [String] {
    let tag = tag(slot: slot) { "\($0)" }
    return (0..<count).map { "\(text):\($0){\(tag)}" }
  }

  /// The first hash tag in `slot` that `make` makes of a number.
  private func tag(slot: Int, _ make: (Int) -> String) -> String {
    let names = RedisNames(prefix: "cachectl", isCluster: true)
    return (0...).first { names.slot(of: make($0)) == slot }.map(make) ?? ""
  }

  @Test("Halfway, calls find entries on both nodes, and put new ones on the right one")
  func halfWay() async throws {
    let cluster = try Self.cluster.get()
    let nodes = try await RedisNodes.open(cluster.url)
    let names = names(6, slot: 5, "half")
    for name in names { try await nodes.put(name, "1") }
    let move = try SlotMove(cluster, slot: 5)
    try move.begin()
    #expect(try move.move { $0 == names[0] || $0 == names[3] } == 2)

    for name in names { #expect(try await nodes.text(name) == "1") }
    let absent = self.names(1, slot: 5, "absent")[0]
    #expect(try await nodes.text(absent) == nil)
    for name in [names[0], names[1], absent] { try await nodes.put(name, "2") }
    for name in [names[0], names[1], absent] { #expect(try await nodes.text(name) == "2") }
    #expect(try await nodes.text(names[5]) == "1")
    try move.end()
    #expect(try await nodes.text(names[0]) == "2")
    #expect(try await nodes.text(names[5]) == "1")
    nodes.close()
  }

  @Test("A call about keys of which some have gone waits until all are in one place")
  func divided() async throws {
    let cluster = try Self.cluster.get()
    let nodes = try await RedisNodes.open(cluster.url)
    let hasty = try await patiently { try await RedisNodes.open(cluster.url, ["timeout": .integer(200)]) }
    let names = names(2, slot: 6, "divided")
    for name in names { try await nodes.put(name, "1") }
    let move = try SlotMove(cluster, slot: 6)
    try move.begin()
    #expect(try move.move { $0 == names[0] } == 1)
    let both = [RedisCommand("MSET", names[0], "2", names[1], "2")]
    #expect(await code { _ = try await patiently { try await hasty.send(both, slot: 6, isRead: false) } } == .busy)
    let waiting = Task { try await nodes.send(both, slot: 6, isRead: false) }
    try move.end()
    #expect(try await waiting.value[0].text == "OK")
    for name in names { #expect(try await nodes.text(name) == "2") }
    hasty.close()
    nodes.close()
  }

  /// Puts more keys into the last slot of `node` than it names at once, none of which are entries.
  private func fill(_ node: RedisServer, _ cluster: RedisCluster) throws {
    let last = try cluster.ranges(asking: node).filter { $0.port == node.port }.map(\.slots.upperBound).max()
    let tag = tag(slot: try #require(last)) { "\($0)" }
    try node.ask("EVAL", "for i = 1, 5000 do redis.call('SET', KEYS[1] .. i, '') end", "1", "other:{\(tag)}")
  }

  @Test("While a slot moves, and after it, everything in it is listed", arguments: [false, true])
  func listing(toNewNode: Bool) async throws {
    let cluster = try Self.cluster.get()
    let slot = toNewNode ? 101 : 100
    let source = try #require(try cluster.owner(of: slot, asking: cluster.nodes[0]))
    // It stays a master when it has no slot any more.
    let newcomer = try RedisServer([
      "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-allow-replica-migration", "no",
    ])
    let prefix = "listing\(slot)"
    let engine = try await RedisPlugin().open(cluster.url, ["prefix": .text(prefix)])
    // Some in the slot that moves, some before and some behind it.
    let keys = (slot - 1...slot + 1).flatMap { slot in
      // On a cluster the hash tag of a key is a slash and its group.
      let tag = tag(slot: slot) { "/\($0)" }
      return (0..<7).map { "cities\(tag),\($0)" }
    }
    for key in keys { try await engine.put(key, "1") }
    defer { for node in cluster.nodes { _ = try? node.ask("FLUSHALL") } }
    // A node with many keys lists them slot by slot.
    if !toNewNode { for node in try cluster.masters() { try fill(node, cluster) } }
    func expectAll() async throws {
      for limit in [1, 3, 1_000] {
        var (request, found) = (ScanRequest(limit: limit), [String]())
        repeat {
          let page = try await engine.scan(request)
          found += page.entries.map(\.key.text)
          request.position = page.next
        } while request.position != nil
        #expect(found.sorted() == keys.sorted())
      }
    }
    try await expectAll()
    if toNewNode {
      for node in cluster.nodes { try newcomer.ask("CLUSTER", "MEET", "127.0.0.1", "\(node.port)") }
      for node in cluster.nodes + [newcomer] {
        try await until("all nodes know the new one") {
          try node.ask("CLUSTER", "INFO").text?.contains("cluster_known_nodes:\(cluster.nodes.count + 1)\r\n") == true
            && node.ask("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true
        }
      }
    }
    let move = try SlotMove(cluster, slot: slot, to: toNewNode ? newcomer : nil)
    try move.begin()
    try await expectAll()
    var moved = 0
    try move.move(limit: 3) { _ in
      moved += 1
      return moved % 2 == 0
    }
    try await expectAll()
    try move.end()
    try await expectAll()
    if toNewNode {
      let back = try SlotMove(cluster, slot: slot, from: newcomer, to: source)
      try back.begin()
      try back.end()
      try await expectAll()
    }
    try await engine.close()
  }

  /// The number of lists of the keys of a slot that `node` has given.
  private func lists(of node: RedisServer) throws -> Int {
    let text = try node.ask("INFO", "commandstats").text ?? ""
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_cluster|getkeysinslot:calls=") }
    return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) } ?? 0
  }

  /// The engine still has the old node of the slot, and counts its keys there.
  @Test("A page from a slot that has moved asks its new node for few slots")
  func listingAfterwards() async throws {
    let cluster = try Self.cluster.get()
    let slot = 102
    let move = try SlotMove(cluster, slot: slot)
    defer { for node in cluster.nodes { _ = try? node.ask("FLUSHALL") } }
    for node in [move.source, move.target] { try fill(node, cluster) }
    let engine = try await RedisPlugin().open(cluster.url, ["prefix": .text("afterwards")])
    let key = "cities\(tag(slot: slot) { "/\($0)" }),a"
    try await engine.put(key, "1")
    try move.begin()
    try move.end()
    let before = try lists(of: move.target)
    let page = try await engine.scan(ScanRequest(after: "c:\(slot)", limit: 1))
    #expect(page.entries.map(\.key.text) == [key])
    let count = try lists(of: move.target) - before
    #expect((1...2).contains(count), "\(count) lists")
    try await engine.close()
  }

  @Test("Calls continue without an error while slots move to and fro")
  func whileInUse() async throws {
    let cluster = try Self.cluster.get()
    let nodes = try await RedisNodes.open(cluster.url)
    let slots = [1, 2, 3, 4]
    let names = slots.flatMap { self.names(20, slot: $0, "use") }
    for name in names { try await nodes.put(name, "0") }
    let progress = Progress()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var number = 0
        while !progress.isOver || number == 0 {
          number += 1
          for name in names { try await nodes.put(name, "\(number)") }
          progress.note(rounds: number)
        }
      }
      group.addTask {
        while !progress.isOver {
          for name in names {
            let text = try await nodes.text(name)
            #expect(text != nil, "\(name) is not found")
          }
        }
      }
      group.addTask {
        defer { progress.end() }
        for slot in slots + slots {
          let move = try SlotMove(cluster, slot: slot)
          try move.begin()
          try move.end()
        }
      }
      try await group.waitForAll()
    }
    let last = "\(progress.rounds)"
    for name in names { #expect(try await nodes.text(name) == last) }
    nodes.close()
  }
}
