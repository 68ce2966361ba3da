internal import EngineAPI

/// Which servers there are, and which of them has what.
struct RedisTopology {
  private let options: RedisOptions
  private let marks: RedisMarks
  var isCluster = false
  var isClosed = false
  /// Who says which servers are the masters: the nodes of the cluster, those of the URL first, or Sentinels.
  private(set) var informants: [RedisAddress]
  /// The servers to which there may be connections.
  private(set) var nodes: [RedisAddress: RedisNode] = [:]
  private(set) var masters: [RedisNode] = []
  /// For each slot of a cluster the position of its master in `masters`; `noOwner` if it has none.
  private var owners: [UInt16] = []

  private static let noOwner = UInt16.max

  init(_ options: RedisOptions, _ marks: RedisMarks) {
    self.options = options
    self.marks = marks
    informants = options.location.addresses
  }

  /// The master that has `slot`, or any master if it is `nil`; `nil` if there is none.
  func master(of slot: Int?) -> RedisNode? {
    guard let slot, !owners.isEmpty else { return masters.first }
    return owners[slot] == Self.noOwner ? nil : masters[Int(owners[slot])]
  }

  /// The server at `address`, which is added if it is new.
  mutating func node(at address: RedisAddress) -> RedisNode {
    if let node = nodes[address] { return node }
    let node = RedisNode(address, options, marks, isReplaceable: isCluster || options.location.service != nil)
    if isClosed { node.close() } else { nodes[address] = node }
    return node
  }

  /// A slot of each master, and one without a master if there is one. `nil` for a server that is no cluster.
  var firstSlots: [Int?] {
    if owners.isEmpty { return [nil] }
    var seen: Set<UInt16> = []
    return owners.indices.filter { seen.insert(owners[$0]).inserted }
  }

  /// Records that the server at `address` is the only master.
  mutating func learn(master address: RedisAddress) {
    if masters.first?.address == address { return }
    masters = [node(at: address)]
    nodes = [address: masters[0]]
  }

  /// Records which master has which slots.
  mutating func learn(_ ranges: [RedisSlotRange]) {
    masters = []
    owners = Array(repeating: Self.noOwner, count: RedisNames.slots)
    informants = options.location.addresses
    for range in ranges {
      for address in range.nodes where !informants.contains(address) { informants.append(address) }
      guard let address = range.nodes.first else { continue }
      let position = position(of: address)
      for slot in range.slots.clamped(to: 0...RedisNames.slots - 1) { owners[slot] = position }
    }
    nodes = nodes.filter { informants.contains($0.key) }
    for node in nodes.values where !masters.contains(where: { $0 === node }) { node.stopFollowing() }
  }

  /// Records that `slot` has moved to the server at `address`.
  mutating func move(_ slot: Int, to address: RedisAddress) {
    guard owners.indices.contains(slot) else { return }
    owners[slot] = position(of: address)
    if !informants.contains(address) { informants.append(address) }
  }

  private mutating func position(of address: RedisAddress) -> UInt16 {
    if let position = masters.firstIndex(where: { $0.address == address }) { return UInt16(position) }
    masters.append(node(at: address))
    return UInt16(masters.count - 1)
  }
}

/// An element of the reply to CLUSTER SLOTS: a range of slots and its nodes, the master first.
struct RedisSlotRange: Sendable {
  let slots: ClosedRange<Int>
  let nodes: [RedisAddress]

  /// The element `value` of the reply of the node at `informant`.
  init?(_ value: RedisValue, from informant: RedisAddress) {
    guard let elements = value.elements, elements.count >= 3, let first = elements[0].integer,
      let last = elements[1].integer, first <= last
    else { return nil }
    slots = Int(first)...Int(last)
    nodes = elements.dropFirst(2).compactMap { node in
      // A node that encrypts all connections has port 0.
      guard let parts = node.elements, parts.count >= 2, let port = parts[1].integer, port > 0 else { return nil }
      // A node that does not know its own address leaves it out.
      let host = parts[0].text.flatMap { $0.isEmpty ? nil : $0 } ?? informant.host
      return RedisAddress(host: host, port: Int32(clamping: port))
    }
  }
}

/// What a node says of its own slots in its reply to CLUSTER NODES.
struct RedisClusterView: Sendable {
  /// The slots that it has with all their keys.
  private(set) var slots = RangeSet<Int>()
  /// For each slot that it is giving away, the node that has the other keys.
  private(set) var importers: [Int: RedisAddress] = [:]

  /// A line is `ID HOST:PORT@BUSPORT FLAGS ...`, and from the ninth word on `FIRST-LAST`, `SLOT` or `[SLOT->-ID]`.
  init(_ reply: String) {
    let lines = reply.split(whereSeparator: \.isNewline).map { $0.split(separator: " ") }
    let own = lines.first { $0.count > 2 && $0[2].holds("myself") } ?? []
    for word in own.dropFirst(8) where word.first != "[" {
      let ends = word.split(separator: "-").compactMap { Int($0) }
      if let first = ends.first, let last = ends.last, first <= last { slots.insert(contentsOf: first..<last + 1) }
    }
    for word in own.dropFirst(8) where word.first == "[" {
      // `[SLOT-<-ID]` is a slot that comes here.
      let number = word.dropFirst().prefix { $0 != "-" }
      let rest = word.dropFirst(1 + number.count)
      guard rest.hasPrefix("->-"), let slot = Int(number) else { continue }
      slots.remove(contentsOf: slot..<slot + 1)
      let importer = rest.dropFirst(3).dropLast()
      let address = lines.first { $0[0] == importer }?[1].prefix { $0 != "@" }
      guard let address, let colon = address.lastIndex(of: ":"), let port = Int32(address[colon...].dropFirst()) else {
        continue
      }
      importers[slot] = RedisAddress(host: String(address[..<colon]), port: port)
    }
  }
}
