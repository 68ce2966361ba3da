import EngineAPI
import Testing

@testable import RedisStorage

/// Moves one slot of a cluster from one node to another, step by step.
struct SlotMove {
  let cluster: RedisCluster
  let slot: Int
  let source: RedisServer
  let target: RedisServer

  init(_ cluster: RedisCluster, slot: Int, from owner: RedisServer? = nil, to target: RedisServer? = nil) throws {
    (self.cluster, self.slot) = (cluster, slot)
    let source = try #require(try owner ?? cluster.owner(of: slot, asking: cluster.nodes[0]))
    self.source = source
    self.target = try #require(try target ?? cluster.masters().first { $0.port != source.port })
  }

  func begin() throws {
    try expectOK(target.ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", identifier(of: source)))
    try expectOK(source.ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", identifier(of: target)))
  }

  /// Moves at most `limit` keys that `isIncluded` chooses, and says how many they were.
  @discardableResult
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
