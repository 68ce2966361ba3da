internal import StorageSPI
internal import Synchronization

/// Some parts of a store that one server has.
struct RedisPartGroup: Sendable {
  let parts: [Int]
  /// The arguments that name the parts to the scripts that look at all parts of a node.
  let names: [[UInt8]]
}

/// Maps the parts of a store to servers.
final class RedisTopology: Sendable {
  private struct State {
    /// The number of each part's server among `servers`; -1 if it is unknown.
    var owners: [Int32]
    var servers: [RedisAddress]
    /// All known nodes, those of the configuration first; or the Sentinels, the one that answered last first.
    var nodes: [RedisAddress]
    /// All parts by server; `nil` until they are asked for.
    var groups: [RedisPartGroup]?

    func owner(of part: Int) -> RedisAddress? { owners[part] < 0 ? nil : servers[Int(owners[part])] }

    /// The number of the server at `address`, which is added if it is new.
    mutating func number(of address: RedisAddress) -> Int32 {
      if let index = servers.firstIndex(of: address) { return Int32(index) }
      servers.append(address)
      return Int32(servers.count - 1)
    }
  }

  private let layout: RedisLayout
  private let seeds: [RedisAddress]
  private let state: Mutex<State>

  /// The servers of `options`. The map never changes if these name a single server.
  init(_ options: RedisOptions) {
    (layout, seeds) = (options.layout, options.location.addresses)
    let owner = options.findsServers ? nil : options.location.addresses.first
    let owners = [Int32](repeating: owner == nil ? -1 : 0, count: layout.parts.count)
    state = Mutex(
      State(owners: owners, servers: owner.map { [$0] } ?? [], nodes: options.location.addresses))
  }

  /// The server that has `part`; `nil` if it is unknown.
  func owner(of part: Int) -> RedisAddress? { state.withLock { $0.owner(of: part) } }

  /// `parts` by the server that has them; those of unknown servers together.
  func groups(_ parts: [Int]) -> [RedisPartGroup] {
    let owners = state.withLock { $0.owners }
    return group(parts, owners)
  }

  /// All parts by the server that has them.
  var groups: [RedisPartGroup] {
    let (known, owners) = state.withLock { ($0.groups, $0.owners) }
    if let known { return known }
    let groups = group(layout.parts, owners)
    state.withLock { if $0.owners == owners { $0.groups = groups } }
    return groups
  }

  private func group(_ parts: some Sequence<Int>, _ owners: [Int32]) -> [RedisPartGroup] {
    Dictionary(grouping: parts) { owners[$0] }.values.map {
      RedisPartGroup(
        parts: $0, names: [Array("\(layout.prefix):".utf8), layout.isSpread ? RedisSlot.tags(of: $0) : []])
    }
  }

  /// Whether `address` is one of a server, a node or a Sentinel.
  func knows(_ address: RedisAddress) -> Bool {
    state.withLock { $0.servers.contains(address) || $0.nodes.contains(address) }
  }

  var nodes: [RedisAddress] { state.withLock { $0.nodes } }

  /// Records that a server has named `address` as the location of `part`.
  func move(_ part: Int, to address: RedisAddress) {
    state.withLock { state in
      state.owners[part] = state.number(of: address)
      state.groups = nil
      if !state.nodes.contains(address) { state.nodes.append(address) }
    }
  }

  /// Records that the Sentinel at `address` has named `master`.
  func learn(master: RedisAddress, from address: RedisAddress) {
    let owners = [Int32](repeating: 0, count: layout.parts.count)
    state.withLock { state in
      state = State(
        owners: owners, servers: [master], nodes: [address] + state.nodes.filter { $0 != address })
    }
  }

  /// Records the reply of the node at `address` to CLUSTER SLOTS, and returns whether it contained anything.
  func learn(_ answer: RedisValue, from address: RedisAddress) -> Bool {
    guard let ranges = answer.elements?.compactMap({ SlotRange($0, from: address) }), !ranges.isEmpty else {
      return false
    }
    var nodes = seeds
    for node in ranges.flatMap(\.nodes) where !nodes.contains(node) { nodes.append(node) }
    var new = State(owners: [Int32](repeating: -1, count: layout.parts.count), servers: [], nodes: nodes)
    // On a cluster the parts are the slots.
    for range in ranges {
      guard let owner = range.nodes.first.map({ new.number(of: $0) }) else { continue }
      for slot in range.slots.clamped(to: 0...layout.parts.upperBound - 1) { new.owners[slot] = owner }
    }
    let learnt = new
    state.withLock { state in
      // Often only the answer to a call was lost.
      let isSame = state.owners == learnt.owners && state.servers == learnt.servers
      let groups = isSame ? state.groups : nil
      state = learnt
      state.groups = groups
    }
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
