internal import StorageSPI
internal import Synchronization

/// Maps the parts of a store to servers.
final class RedisTopology: Sendable {
  private struct State {
    var owners: [RedisAddress?]
    /// All known nodes, those of the configuration first; or the Sentinels, the one that answered last first.
    var nodes: [RedisAddress]
  }

  private let layout: RedisLayout
  private let seeds: [RedisAddress]
  private let state: Mutex<State>

  /// The servers of `options`. The map never changes if these name a single server.
  init(_ options: RedisOptions) {
    (layout, seeds) = (options.layout, options.location.addresses)
    let owner = options.findsServers ? nil : options.location.addresses.first
    let state = State(
      owners: Array(repeating: owner, count: layout.partCount), nodes: options.location.addresses)
    self.state = Mutex(state)
  }

  /// The server that has `part`; `nil` if it is unknown.
  func owner(of part: Int) -> RedisAddress? { state.withLock { $0.owners[part] } }

  var nodes: [RedisAddress] { state.withLock { $0.nodes } }

  /// Records that a server has named `address` as the location of `part`.
  func move(_ part: Int, to address: RedisAddress) {
    state.withLock { state in
      state.owners[part] = address
      if !state.nodes.contains(address) { state.nodes.append(address) }
    }
  }

  /// Records that the Sentinel at `address` has named `master`.
  func learn(master: RedisAddress, from address: RedisAddress) {
    let owners = layout.parts.map { _ in Optional(master) }
    state.withLock { state in
      state = State(owners: owners, nodes: [address] + state.nodes.filter { $0 != address })
    }
  }

  /// Records the reply of the node at `address` to CLUSTER SLOTS, and returns whether it contained anything.
  func learn(_ answer: RedisValue, from address: RedisAddress) -> Bool {
    guard let ranges = answer.elements?.compactMap({ SlotRange($0, from: address) }), !ranges.isEmpty else {
      return false
    }
    let owners = layout.parts.map { part in
      let slot = layout.slot(of: part)
      return ranges.first { $0.slots.contains(slot) }?.nodes.first
    }
    var nodes = seeds
    for node in ranges.flatMap(\.nodes) where !nodes.contains(node) { nodes.append(node) }
    state.withLock { $0 = State(owners: owners, nodes: nodes) }
    return true
  }
}

/// An element of the reply to CLUSTER SLOTS: a range of slots and its nodes, the master first.
private struct SlotRange {
  let slots: ClosedRange<Int>
  let nodes: [RedisAddress]

  init?(_ value: RedisValue, from answering: RedisAddress) {
    guard let elements = value.elements, elements.count >= 3, let first = elements[0].integer,
      let last = elements[1].integer, first <= last
    else { return nil }
    slots = Int(first)...Int(last)
    nodes = elements.dropFirst(2).compactMap { node in
      // A node that encrypts all connections has port 0.
      guard let parts = node.elements, parts.count >= 2, let port = parts[1].integer, port > 0 else { return nil }
      // A node that does not know its own address leaves it out.
      let host = parts[0].text.flatMap { $0.isEmpty ? nil : $0 } ?? answering.host
      return RedisAddress(host: host, port: Int32(clamping: port))
    }
  }
}
