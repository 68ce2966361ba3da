internal import CacheBase
internal import EngineAPI

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

/// A node's own slots, from its reply to CLUSTER NODES.
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
