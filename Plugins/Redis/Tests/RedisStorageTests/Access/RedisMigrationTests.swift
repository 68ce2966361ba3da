import Foundation
import StorageSPI
import Synchronization
import Testing

@testable import HiredisStorage

/// Moves one slot of a cluster from one node to another, step by step.
private struct SlotMove {
  let cluster: RedisCluster
  let slot: Int
  let source: RedisServer
  let target: RedisServer

  init(_ cluster: RedisCluster, slot: Int) throws {
    (self.cluster, self.slot) = (cluster, slot)
    let source = try #require(try cluster.owner(of: slot, asking: cluster.nodes[0]))
    self.source = source
    target = try #require(try cluster.masters().first { $0.port != source.port })
  }

  func begin() throws {
    try expectOK(target.ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", identifier(of: source)))
    try expectOK(source.ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", identifier(of: target)))
  }

  /// Moves at most `limit` keys that `isIncluded` chooses, and says how many it were.
  func move(limit: Int = 10, _ isIncluded: (String) -> Bool = { _ in true }) throws -> Int {
    let keys = try source.ask("CLUSTER", "GETKEYSINSLOT", "\(slot)", "10000").elements?.compactMap(\.text) ?? []
    let chosen = keys.filter(isIncluded).prefix(limit)
    for key in chosen { _ = try source.ask("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "60000") }
    return chosen.count
  }

  func end() throws {
    while try move(limit: 100) > 0 {}
    for node in [target, source] + (try cluster.masters()) {
      try expectOK(node.ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", identifier(of: target)))
    }
  }

  private func identifier(of node: RedisServer) throws -> String { try #require(try node.ask("CLUSTER", "MYID").text) }

  private func expectOK(_ answer: RedisValue) throws {
    #expect(answer.error == nil, "\(answer.error?.description ?? "")")
  }
}

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
  private let layout = RedisLayout(prefix: "cachectl", isSpread: true)

  /// `count` keys of one part, beginning with `text`.
  private func keys(_ count: Int, part: Int, _ text: String) throws -> [CacheKey] {
    try (0..<1_000_000).lazy.map { try CacheKey("cities/\(text)\($0)") }.filter { layout.part(of: $0) == part }
      .prefix(count).map { $0 }
  }

  @Test("Half way, reads find what has gone and what has not; writes wait until it is over")
  func halfWay() async throws {
    let cluster = try Self.cluster.get()
    let plugin = RedisPlugin(.cluster)
    let engine = try await plugin.open(cluster.url)
    let hasty = try await patiently { try await plugin.open(cluster.url, ["timeout": .integer(200)]) }
    let keys = try keys(6, part: 5, "half")
    for key in keys { try await engine.put(key.text, "1") }
    let move = try SlotMove(cluster, slot: 5)
    try move.begin()
    #expect(try move.move(limit: 3) { $0.hasSuffix(keys[0].text) || $0.hasSuffix(keys[3].text) } == 2)

    for key in keys { #expect(try await engine.text(key.text) == "1") }
    let absent = try self.keys(1, part: 5, "absent")[0]
    #expect(try await engine.text(absent.text) == nil)
    // What is all in one place can be written; what has gone, or is new, cannot yet.
    try await patiently { try await hasty.put(keys[1].text, "2") }
    for key in [keys[0], absent] {
      #expect(await code { try await patiently { try await hasty.put(key.text, "2") } } == .busy, "\(key)")
    }
    // What is not there yet must not be made anew, nor be reported as missing from a list.
    #expect(await code { _ = try await patiently { try await hasty.keys() } } == .busy)
    let write = Task { for key in keys { try await engine.put(key.text, "3") } }
    try move.end()
    try await write.value
    for key in keys { #expect(try await engine.text(key.text) == "3") }
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
    try await hasty.close()
  }

  @Test("What is to be listed and counted is found while a slot without entries is migrated, and after its move")
  func emptySlot() async throws {
    let cluster = try Self.cluster.get()
    let engine = try await RedisPlugin(.cluster).open(cluster.url, ["prefix": .text("empty")])
    for number in 0..<20 { try await engine.put("cities/\(number)", "1") }
    let layout = RedisLayout(prefix: "empty", isSpread: true)
    let keys = try await engine.keys()
    let used = Set(try keys.map { layout.part(of: try CacheKey($0)) })
    let move = try SlotMove(cluster, slot: try #require((100..<200).first { !used.contains($0) }))
    func expectAll() async throws {
      #expect(try await engine.keys() == keys)
      #expect(try await engine.count().entries == 20)
    }
    try move.begin()
    try await expectAll()
    try move.end()
    try await expectAll()
    try await engine.close()
  }

  @Test("The last entry of a slot can be removed while the slot is migrated, and a full one is listed and counted")
  func lastEntry() async throws {
    let cluster = try Self.cluster.get()
    let engine = try await RedisPlugin(.cluster).open(cluster.url, ["prefix": .text("last")])
    let key = try keys(1, part: 7, "last")[0]
    try await engine.put(key.text, "1")
    let move = try SlotMove(cluster, slot: 7)
    try move.begin()
    #expect(try await engine.keys() == [key.text])
    #expect(try await engine.count().entries == 1)
    var removal = WriteBatch()
    removal.remove(key)
    try await engine.apply(removal)
    #expect(try await engine.keys() == [])
    #expect(try await engine.count().entries == 0)
    try move.end()
    try await engine.put(key.text, "2")
    #expect(try await engine.text(key.text) == "2")
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("Calls of all kinds go on without an error while slots move to and fro")
  func whileInUse() async throws {
    let cluster = try Self.cluster.get()
    let engine = try await RedisPlugin(.cluster).open(cluster.url)
    let parts = [1, 2, 3, 4]
    let keys = try parts.flatMap { try self.keys(20, part: $0, "use") }
    for key in keys { try await engine.put(key.text, "0") }
    let progress = Progress()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var number = 0
        while !progress.isOver || number == 0 {
          number += 1
          for key in keys { try await engine.put(key.text, "\(number)") }
          progress.note(rounds: number)
        }
      }
      group.addTask {
        while !progress.isOver {
          for key in keys { #expect(try await engine.text(key.text) != nil, "\(key) is not found") }
          let seen = try await engine.scan(ScanRequest(prefix: "cities/use")).entries
          #expect(seen.map(\.key) == keys.sorted())
        }
      }
      group.addTask {
        defer { progress.end() }
        for part in parts + parts {
          let move = try SlotMove(cluster, slot: part)
          try move.begin()
          try move.end()
        }
      }
      try await group.waitForAll()
    }
    let last = "\(progress.rounds)"
    for key in keys { #expect(try await engine.text(key.text) == last) }
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("Names of slots are what a server computes", arguments: ["123456789", "cities/v1/a", "", "cachectl:07"])
  func slots(_ text: String) throws {
    let slot = try Self.cluster.get().nodes[0].ask("CLUSTER", "KEYSLOT", text).integer
    #expect(Int64(RedisSlot.number(of: text.utf8)) == slot)
  }
}
