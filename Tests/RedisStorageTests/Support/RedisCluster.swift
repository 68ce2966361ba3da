import Foundation

@testable import RedisStorage

/// A Redis Cluster on loopback: three masters, each with a replica or without. It ends with the object.
final class RedisCluster: Sendable {
  let nodes: [RedisServer]

  /// One for all tests that neither stop a node nor move a slot, each with store names of its own: to start a cluster
  /// takes as long as most of them.
  static let shared = Result { try RedisCluster() }

  /// Starts the nodes and joins them; a node that says nothing for `timeout` milliseconds is replaced by its replica.
  /// By default that is so long that no node is replaced for having to wait for the processor. Without replicas the other
  /// nodes go on if one is lost.
  init(timeout: Int = 60_000, replicas: Int = 1) throws {
    nodes = try (0..<3 * (1 + replicas)).map { _ in
      try RedisServer([
        "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "\(timeout)",
        "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
        "--cluster-require-full-coverage", replicas == 0 ? "no" : "yes",
      ])
    }
    let addresses = nodes.map(\.address.description)
    _ = try RedisServer.run(
      "redis-cli", ["--cluster", "create"] + addresses + ["--cluster-replicas", "\(replicas)", "--cluster-yes"])
    try waitUntilReady(replicas)
  }

  /// The addresses of a master and a replica, which is enough to find the others.
  var url: String { nodes[0].url + "," + nodes[nodes.count - 1].address.description }

  /// Waits until all nodes agree, and each master has as many replicas that follow it.
  private func waitUntilReady(_ expected: Int) throws {
    try eventually("all nodes of the cluster agree") { () -> Void? in
      for node in nodes {
        guard try node.ask("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true else { return nil }
      }
      let replicas = try masters().compactMap { try $0.ask("ROLE").elements?[2].elements?.count }
      return replicas == [expected, expected, expected] ? () : nil
    }
  }

  /// The nodes that are masters at the moment, among the running ones.
  func masters() throws -> [RedisServer] {
    nodes.filter { (try? $0.ask("ROLE").elements?.first?.text) == "master" }
  }

  /// The replica of `master`.
  func replica(of master: RedisServer) throws -> RedisServer? {
    let port = try master.ask("ROLE").elements?[2].elements?.first?.elements?[1].number
    return nodes.first { Int64($0.port) == port }
  }

  /// The master that has `slot`, by the account of `witness`.
  func owner(of slot: Int, asking witness: RedisServer) throws -> RedisServer? {
    let port = try ranges(asking: witness).first { $0.slots.contains(slot) }?.port
    return nodes.first { $0.port == port }
  }

  /// The first slot that `node` has, by its own account.
  func firstSlot(of node: RedisServer) throws -> Int? {
    try ranges(asking: node).first { $0.port == node.port }?.slots.lowerBound
  }

  /// The slots and the port of each master.
  func ranges(asking node: RedisServer) throws -> [(slots: ClosedRange<Int>, port: Int)] {
    try node.ask("CLUSTER", "SLOTS").elements?.compactMap { range in
      guard let parts = range.elements, let first = parts[0].integer, let last = parts[1].integer,
        let port = parts[2].elements?[1].integer
      else { return nil }
      return (Int(first)...Int(last), Int(port))
    } ?? []
  }
}
