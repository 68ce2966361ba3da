import Foundation

@testable import RedisStorage

/// A Redis Cluster on loopback: three masters, each with a replica or without. It ends with the object.
final class RedisCluster: Sendable {
  let nodes: [RedisServer]

  /// One for all tests that neither stop a node nor move a slot, each with separate store names: the start of a cluster
  /// takes as long as most of them.
  static let shared = Result { try RedisCluster() }

  /// Starts the nodes, with further `arguments`, and joins them; a node that says nothing for `timeout` milliseconds is
  /// replaced by its replica. By default that is so long that no node is replaced for having to wait for the processor.
  /// Without replicas the other nodes continue if one is lost.
  init(timeout: Int = 60_000, replicas: Int = 1, _ arguments: [String] = []) throws {
    nodes = try (0..<3 * (1 + replicas)).map { _ in
      try RedisServer(
        [
          "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-replica-validity-factor", "0",
          "--repl-diskless-sync-delay", "0", "--cluster-require-full-coverage", replicas == 0 ? "no" : "yes",
          // The shorter this is, the sooner nodes agree. Until then none is replaced.
          "--cluster-node-timeout", "1000", "--cluster-replica-no-failover", "yes",
        ] + arguments)
    }
    try join()
    try waitUntilReady(replicas)
    for node in nodes {
      try node.ask("CONFIG", "SET", "cluster-node-timeout", "\(timeout)", "cluster-replica-no-failover", "no")
    }
  }

  /// Has every node meet every other one, because it takes seconds to hear of them from others.
  private func join() throws {
    for (index, node) in nodes.enumerated() { try node.ask("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)") }
    for (node, slots) in zip(nodes, [0...5_460, 5_461...10_922, 10_923...16_383]) {
      try node.ask("CLUSTER", "ADDSLOTSRANGE", "\(slots.lowerBound)", "\(slots.upperBound)")
    }
    try eventually("all nodes know each other") { () -> Void? in
      // A meeting that takes a second is given up.
      let unknown = try nodes.flatMap { node in try nodes.filter { try !$0.isKnown(to: node) } }
      return unknown.isEmpty ? () : nil
    }
    for (master, replica) in zip(nodes, nodes[3...]) {
      let identifier = try master.ask("CLUSTER", "MYID").text ?? ""
      try eventually("the replica follows its master") { () -> Void? in
        try replica.ask("CLUSTER", "REPLICATE", identifier).text == "OK" ? () : nil
      }
    }
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

extension RedisServer {
  /// Whether `other` knows this node of its cluster. If not, the two are about to meet.
  fileprivate func isKnown(to other: RedisServer) throws -> Bool {
    let lines = try other.ask("CLUSTER", "NODES").text?.split(whereSeparator: \.isNewline) ?? []
    let line = lines.first { $0.contains("127.0.0.1:\(port)@") || other.port == port && $0.contains("myself") }
    if line == nil { try other.ask("CLUSTER", "MEET", "127.0.0.1", "\(port)") }
    return line?.contains("handshake") == false
  }
}
