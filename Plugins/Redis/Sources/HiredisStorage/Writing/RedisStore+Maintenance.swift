internal import StorageSPI
internal import Synchronization

/// What a store holds, and how often it has changed.
struct RedisCount: Sendable {
  var tally = SlotTally()
  /// The totals by namespace, as the server counts them.
  var namespaces: [String: SlotTally.Count] = [:]
  /// The total of all entries, as the server counts it.
  var total = SlotTally.Count()
  /// The number of changes to all parts.
  var changes: Int64 = 0
  /// The latest version that wrote a part; `nil` if no part has a tally.
  var format: Int64?
  /// Whether entries may be counted that the server has dropped.
  var isStale = false

  /// - Parameter isIndexed: whether the store has an index.
  func storeCount(isIndexed: Bool) -> StoreCount {
    var count = StoreCount()
    for (slot, part) in tally.slots {
      count[slot.namespace] += EntryCount(
        entries: part.entries, payloadBytes: part.payloadBytes, earliestExpiry: SlotTally.start(of: slot.retainSlot))
    }
    // The bytes that a server stores for an entry next to its payload, measured on Redis 7.0 for a key of 20 bytes.
    let bytesPerEntry = isIndexed ? 340 : 195
    count.storageBytes = count.payloadBytes + count.entries * bytesPerEntry
    return count
  }
}

extension RedisStore {
  /// Counts the entries. Those that the server has dropped in the current slot of time may be counted; all that it has
  /// dropped, where this is `onlyReading`.
  ///
  /// Cost: a round trip, which asks all nodes at once.
  func count(onlyReading: Bool = false) throws(CacheError) -> RedisCount {
    let replies = try router.performOnNodes { group in
      RedisRequest(group.parts[0], .count, keys: [], arguments: group.names + [onlyReading ? [1] : []])
    }
    var (count, elsewhere) = (RedisCount(), [Int]())
    for (_, reply) in replies {
      guard let values = reply.value.elements, values.count == 5, let changes = values[1].number,
        let isStale = values[3].integer
      else { throw .damagedTally(store: options.description) }
      count.changes += changes
      if let format = values[2].number { count.format = max(format, count.format ?? 0) }
      if isStale == 1 { count.isStale = true }
      try add(values[0], to: &count)
      elsewhere += RedisSlot.slots(tags: values[4].bytes)
    }
    for tally in try askOwners(elsewhere, { RedisCommand("HGETALL", layout.tables(of: $0)[1]) }) {
      let values = tally.elements ?? []
      for index in stride(from: 0, to: values.count - 1, by: 2) {
        switch values[index].text {
        case "changes": count.changes += values[index + 1].number ?? 0
        case "format": count.format = max(values[index + 1].number ?? 0, count.format ?? 0)
        default: continue
        }
      }
      try add(tally, to: &count)
    }
    return count
  }

  /// What the parts of a cluster hold outside the namespace `exempt`. The share of parts that do not answer at
  /// once is estimated from the others, because keys are spread evenly.
  ///
  /// Cost: a round trip, which asks all nodes at once.
  func total(except exempt: String?) throws(CacheError) -> SlotTally.Count {
    let groups = router.topology.groups
    let field = Array((exempt.map { RedisTally.field($0) } ?? "").utf8)
    let replies = try router.ask(
      groups.map { RedisRequest($0.parts[0], .totals, keys: [], arguments: $0.names + [field]) })
    var (sum, parts) = (SlotTally.Count(), 0)
    for (group, reply) in zip(groups, replies) {
      guard let reply else { continue }
      guard let values = reply.value.elements, values.count == 3, let entries = values[0].number,
        let bytes = values[1].number
      else { throw .damagedTally(store: options.description) }
      sum = sum + SlotTally.Count(entries: Int(entries), payloadBytes: Int(bytes))
      parts += group.parts.count - values[2].bytes.count / RedisSlot.tagLength
    }
    guard parts < layout.parts.count else { return sum }
    let share = Double(layout.parts.count) / Double(max(parts, 1))
    return SlotTally.Count(
      entries: Int(Double(sum.entries) * share), payloadBytes: Int(Double(sum.payloadBytes) * share))
  }

  /// The replies to a command for each of `parts` with one key, which follows its key to where a slot is migrated.
  func askOwners(_ parts: [Int], _ command: (Int) -> RedisCommand) throws(CacheError) -> [RedisValue] {
    if parts.isEmpty { return [] }
    return try router.perform(parts.map { RedisRequest($0, command($0)) }).map(\.value)
  }

  /// How much the store holds, counted exactly.
  func storeCount() throws(CacheError) -> StoreCount {
    try countExactly().storeCount(isIndexed: layout.isIndexed)
  }

  /// Counts the entries, after forgetting some that the server has dropped: in a store of up to 10,000 entries on one
  /// server, all of them.
  func countExactly() throws(CacheError) -> RedisCount {
    guard layout.isIndexed else { return try countUnindexed() }
    let first = try count()
    guard first.isStale, !layout.isSpread, try tidy([0]) else { return first }
    return try count()
  }

  /// Adds what `fields`, the fields and values of a tally, count.
  private func add(_ fields: RedisValue, to count: inout RedisCount) throws(CacheError) {
    guard let fields = RedisTally.counts(fields) else { throw .damagedTally(store: options.description) }
    for (field, part) in fields {
      if let slot = RedisTally.slot(field) {
        count.tally.add(part, to: slot)
      } else if let namespace = RedisTally.namespace(field) {
        count.namespaces[namespace] = (count.namespaces[namespace] ?? SlotTally.Count()) + part
      } else {
        guard field == RedisTally.total else { throw .damagedTally(store: options.description) }
        count.total = count.total + part
      }
    }
  }

  /// Removes what has expired at `now`, and forgets what the servers have dropped. Cost: a look at all lines of the
  /// index, a round trip for each 1,000 of a part.
  func compact(at now: Timestamp) throws(CacheError) {
    guard layout.isIndexed else { return try compactUnindexed(at: now) }
    // This fails if the tally is damaged.
    _ = try count()
    try walk(.tidy, size: Self.linesPerStep, arguments: [String(now.milliseconds), publisher], isChange: true) {
      value throws(CacheError) in try next(value).position
    }
  }

  /// Runs `script` over the index of all parts, page by page, many parts at a time.
  ///
  /// - Parameters:
  ///   - size: the number of lines in a page.
  ///   - arguments: what follows the first line and that number.
  ///   - body: gets the script's answer, and returns the line to continue from; `nil` at the end.
  func walk(
    _ script: RedisScript, size: Int, arguments: [String] = [], isChange: Bool = false,
    _ body: (RedisValue) throws(CacheError) -> String?
  ) throws(CacheError) {
    var open = layout.parts.map { (part: $0, from: "-") }[...]
    while !open.isEmpty {
      let page = open.prefix(Self.partsAtOnce)
      open.removeFirst(page.count)
      let replies = try router.perform(
        page.map { place in
          RedisRequest(
            place.part, script, keys: layout.tables(of: place.part),
            arguments: ([place.from, String(size)] + arguments).map { Array($0.utf8) }, isChange: isChange)
        })
      for (place, reply) in zip(page, replies) {
        if let from = try body(reply.value) { open.append((place.part, from)) }
      }
    }
  }

  private static let partsAtOnce = 256
}

/// Where the next search for index lines without an entry begins, by part.
final class RedisTidying: Sendable {
  fileprivate let positions = Mutex<[Int: String]>([:])
}

extension RedisStore {
  /// How many index lines to check in one step, during which the server answers no other client.
  private static let linesPerStep = 1_000
  /// How many steps a write takes if the server has no room, or the store has none.
  private static let stepsPerWrite = 10
  /// How many parts such a write looks at.
  private static let partsPerWrite = 10

  /// Forgets index lines of some of `parts` whose entries the server has dropped, and returns whether there were any.
  /// Cost: up to ten round trips for each of ten parts; the next call continues where this one ends.
  func tidy(_ parts: Set<Int>) throws(CacheError) -> Bool {
    var count = 0
    for part in parts.prefix(Self.partsPerWrite) {
      var position = tidying.positions.withLock { $0[part] ?? "-" }
      for _ in 0..<Self.stepsPerWrite {
        let step = try tidy(part, from: position)
        count += step.forgotten
        position = step.position ?? "-"
        if step.position == nil { break }
      }
      let reached = position
      tidying.positions.withLock { $0[part] = reached == "-" ? nil : reached }
    }
    return count > 0
  }

  private func tidy(_ part: Int, from: String) throws(CacheError) -> (forgotten: Int, position: String?) {
    let arguments = [from, String(Self.linesPerStep), "", publisher].map { Array($0.utf8) }
    return try next(
      router.perform(RedisRequest(part, .tidy, keys: layout.tables(of: part), arguments: arguments, isChange: true)))
  }

  private func next(_ answer: RedisValue) throws(CacheError) -> (forgotten: Int, position: String?) {
    guard let values = answer.elements, values.count == 2, let forgotten = values[0].integer, let next = values[1].text
    else { throw router.undecodable("tidying gives no count") }
    return (Int(forgotten), next.isEmpty ? nil : next)
  }
}

extension RedisStore {
  /// Removes all entries and the tables, whatever their state, without needing memory.
  ///
  /// Cost: a round trip for each 1,000 entries of a part, and for each 1,000 keys on a server.
  func removeAll() throws(CacheError) {
    try checkOwnership()
    var open = Array(layout.parts)[...]
    while !open.isEmpty {
      let page = open.prefix(256)
      open.removeFirst(page.count)
      for (part, reply) in zip(page, try router.perform(page.map { clearing($0) })) where reply.value.integer == 1 {
        open.append(part)
      }
    }
    try removeUnlisted()
    if !layout.isIndexed { _ = try router.perform(RedisRequest(0, RedisCommand("UNLINK", layout.marker))) }
  }

  /// Removes the entries that no index names: they were lost, but are still found by key. Entries that another process
  /// puts meanwhile stay.
  func removeUnlisted() throws(CacheError) {
    for group in router.topology.groups {
      try eachPage(in: group) { keys throws(CacheError) in
        _ = try router.perform(
          Dictionary(grouping: keys) { layout.part(of: $0) }.map { clearing($0.key, naming: $0.value) })
        return true
      }
    }
  }

  /// Passes the keys of the entries on the server of `group` to `body`, page by page, until it returns `false`. A key may
  /// come twice. Cost: a round trip for each 1,000 keys of any kind on the server.
  ///
  /// - Parameter beginning: what the keys begin with, if the store is not spread.
  func eachPage(
    in group: RedisPartGroup, beginning: String = "", _ body: ([CacheKey]) throws(CacheError) -> Bool
  ) throws(CacheError) {
    let part = group.parts[0]
    var (cursor, server) = ("0", router.topology.owner(of: part))
    // Escape the characters that have a meaning in a pattern.
    let literal = beginning.map { "*?[]\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    while true {
      let command = RedisCommand("SCAN", cursor, "MATCH", "\(layout.prefix):\(literal)*", "COUNT", "1000")
      guard let page = try router.perform(RedisRequest(part, command)).elements, page.count == 2,
        let next = page[0].text, let names = page[1].elements
      else { throw router.undecodable("a listing gives no keys") }
      // Everything else is not an entry of this store.
      guard try body(names.compactMap { $0.text.flatMap { layout.key(named: $0) } }) else { return }
      let now = router.topology.owner(of: part)
      if now == server, next == "0" { return }
      // A cursor means nothing to another server.
      (cursor, server) = (now == server ? next : "0", now)
    }
  }

  /// The request to remove some of what the index of `part` names, which answers 1 if there is more. If `keys` are given,
  /// it only removes those entries under them that the index does not name.
  private func clearing(_ part: Int, naming keys: [CacheKey] = []) -> RedisRequest {
    let arguments = ([publisher] + keys.map(\.text)).map { Array($0.utf8) }
    return RedisRequest(part, .clear, keys: layout.tables(of: part), arguments: arguments, isChange: true)
  }
}
