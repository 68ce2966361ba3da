internal import EngineAPI
internal import Synchronization

/// Lists the entries of a store, which has no index: by `SCAN` on one server; on a cluster slot after slot, because the
/// cursors of its nodes mean nothing once slots have moved.
final class RedisScan: Sendable {
  private let nodes: RedisNodes
  private let names: RedisNames
  /// The store, for errors.
  private let store: String
  /// The keys that were found for the last page and did not fit it, with the prefix and the position for which they are. A node
  /// cannot name a part of the keys of a slot: without this each page would cost as much as all of a full slot.
  private let rest = Mutex<(prefix: String, position: String, found: Found)?>(nil)

  init(nodes: RedisNodes, names: RedisNames, store: String) {
    self.nodes = nodes
    self.names = names
    self.store = store
  }

  /// A key that was found, and the position of those among which it was found. They are listed in order.
  private struct Item: Sendable {
    let key: CacheKey
    let place: String

    /// The position behind the key.
    var next: String { "\(place):\(key)" }
  }

  /// Some keys.
  private struct Found: Sendable {
    var items: ArraySlice<Item>
    /// The position behind them; `nil` if nothing follows.
    var next: String?
    /// The node of a cluster that has named them, which might have moved some of them since.
    var node: RedisAddress?
  }

  /// The content of a key.
  private enum Look {
    case entry(ScannedEntry), gone, unreadable(CacheError)
    /// So much of the end of the value is needed to know, or all of it (`max`).
    case needs(end: Int, payloadBytes: Int)

    var payloadBytes: Int {
      switch self {
      case .entry(let entry): entry.payloadBytes
      case .needs(_, let count): count
      case .gone, .unreadable: 0
      }
    }
  }

  /// The most keys to look for at once, during which a server serves no other client.
  private static let keysAtOnce = 1_000
  /// The same if their payloads are wanted.
  private static let payloadsAtOnce = 250

  /// The page that `request` asks for. Cost: two round trips, or three if there are long entries; more if most keys of a
  /// server are of others.
  func page(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    guard !request.isDescending else {
      throw CacheError(.unsupported, "the backend redis cannot scan from the last key to the first")
    }
    let limit = min(request.limit, request.includesPayloads ? Self.payloadsAtOnce : Self.keysAtOnce)
    var found = try await keys(for: request, limit)
    let looks = try await look(at: found.items.prefix(limit).map(\.key), request.includesPayloads, found.node)
    let readable = looks.prefix { if case .unreadable = $0 { false } else { true } }
    // The first one of all is a separate page if it cannot be read.
    let items = found.items.prefix(max(readable.count, 1))
    found.items.removeFirst(items.count)
    var next = found.next
    if let last = items.last, !found.items.isEmpty || readable.isEmpty {
      next = last.next
      if !found.items.isEmpty { rest.withLock { [found] in $0 = (request.prefix, last.next, found) } }
    }
    if case .unreadable(let error)? = looks.first, let item = items.first {
      throw CacheError(
        error.code, error.message, hint: error.hint, key: error.key, cause: UnreadableEntry(item.key, next: next))
    }
    return ScanPage(readable.compactMap { if case .entry(let entry) = $0 { entry } else { nil } }, next: next)
  }

  /// The keys for a page of at most `limit` entries, and perhaps more.
  private func keys(for request: ScanRequest, _ limit: Int) async throws(CacheError) -> Found {
    let kept = rest.withLock { rest -> Found? in
      guard let (prefix, position, found) = rest else { return nil }
      let isWanted = prefix == request.prefix && position == request.position
      // A scan that begins might know of later entries.
      if isWanted || request.position == nil { rest = nil }
      return isWanted ? found : nil
    }
    if let kept { return kept }
    // A server finds a few more keys than requested. Changes do not invalidate a position at the end of one of its
    // pages.
    var width = max(1, limit - limit / 8)
    var found = try await find(request.position, request.prefix, width)
    // The keys of other programs must not divide a small store into several pages, which would show different moments.
    while found.items.isEmpty || (!names.isCluster && found.items.count < limit / 2), let next = found.next {
      if Task.isCancelled { throw .cancelled }
      let more = try await find(next, request.prefix, width)
      if more.items.isEmpty { width = min(width * 2, 8 * Self.keysAtOnce) }
      if !found.items.isEmpty, found.items.count + more.items.count > limit { break }
      let known = Set(found.items.map(\.key))
      found.items += more.items.filter { !known.contains($0.key) }
      found.next = more.next
      found.node = more.node
    }
    return found
  }

  /// Passes all entries to `body`, and an error for each one that cannot be read.
  func visit(
    includesPayloads: Bool = false, _ body: (Result<[ScannedEntry], CacheError>) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    var request = ScanRequest(includesPayloads: includesPayloads)
    repeat {
      let entries: Result<[ScannedEntry], CacheError>
      do throws(CacheError) {
        let page = try await page(request)
        (entries, request.position) = (.success(page.entries), page.next)
      } catch {
        guard let unreadable = error.cause as? UnreadableEntry else { throw error }
        (entries, request.position) = (.failure(error), unreadable.next)
      }
      try await body(entries)
    } while request.position != nil
  }

  /// The name of some entry, whatever is under it; `nil` if there is none.
  func anyName() async throws(CacheError) -> String? {
    var name: String?
    try await visitFound { found in
      name = found.items.first.map { names.name(of: $0.key) }
      return name == nil
    }
    return name
  }

  /// Removes everything under the names of entries. Entries that others put meanwhile might stay.
  func removeAll() async throws(CacheError) {
    try await visitFound { found throws(CacheError) in
      let named = found.items.map { names.name(of: $0.key) }
      _ = try await ask(named.map { ($0, RedisCommand("UNLINK", $0)) }, found.node, isRead: false)
      return true
    }
  }

  /// Passes all keys to `body` until it returns `false`.
  private func visitFound(_ body: (Found) async throws(CacheError) -> Bool) async throws(CacheError) {
    var position: String?
    repeat {
      let found = try await find(position, "", Self.keysAtOnce)
      guard try await body(found) else { return }
      position = found.next
    } while position != nil
  }
}

/// Which keys there are.
extension RedisScan {
  /// The next keys, about `width` of them.
  private func find(_ position: String?, _ prefix: String, _ width: Int) async throws(CacheError) -> Found {
    // No character of a position is special to a shell: users copy it. A key, the last part, can contain colons.
    let words = (position ?? "").split(separator: ":", maxSplits: names.isCluster ? 2 : 4).map(String.init)
    return try await names.isCluster
      ? findInSlots(words, prefix, width) : findOnServer(words, prefix, width)
  }

  private func findOnServer(_ words: [String], _ prefix: String, _ width: Int) async throws(CacheError) -> Found {
    // "s:RUN:CURSOR", or "s:RUN:CURSOR:END:KEY": of the keys between CURSOR and END, those up to KEY are done. If it ends
    // elsewhere now, all of them are listed again.
    let isPosition = words.count >= 3 && words[0] == "s" && UInt64(words[2]) != nil
    let cursor = isPosition ? words[2] : "0"
    let done = isPosition && words.count == 5 ? (end: words[3], key: words[4]) : nil
    let pattern = "\(names.start)\(Self.escaped(prefix))*"
    let commands = [
      RedisCommand("SCAN", cursor, "MATCH", pattern, "COUNT", String(width)), RedisCommand("INFO", "server"),
    ]
    // Both replies come over one connection, and so from one run of the server.
    let replies = try await nodes.send(commands, slot: nil, isRead: true)
    guard let reply = try checked(replies[0]).elements, reply.count == 2, let end = reply[0].text,
      let run = try checked(replies[1]).fact("run_id")
    else { throw CacheError(.failed, "\(store): the server replies to SCAN or INFO in another form than Redis") }
    // The cursor of another run of the server, or of another server, means nothing.
    if isPosition, words[1] != run { return try await findOnServer([], prefix, width) }
    var keys = Set(keys(reply[1].elements)).sorted()
    if let done, done.end == end { keys.removeAll { $0.text <= done.key } }
    let place = "s:\(run):\(cursor):\(end)"
    return Found(items: keys.map { Item(key: $0, place: place) }[...], next: end == "0" ? nil : "s:\(run):\(end)")
  }

  /// `text` as a pattern that means itself.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { $0 += "*?[]\\".contains($1) ? "\\\($1)" : "\($1)" }
  }

  /// The keys of this store among `found`.
  private func keys(_ found: [RedisValue]?) -> [CacheKey] {
    (found ?? []).compactMap { $0.text.flatMap { names.key(named: $0) } }
  }

  /// The most slots to ask a node for at once.
  private static let slotsAtOnce = 1_024

  private func findInSlots(_ words: [String], _ prefix: String, _ width: Int) async throws(CacheError) -> Found {
    // "c:SLOT", or "c:SLOT:KEY": of the keys in SLOT, those up to KEY are done.
    let isPosition = words.count > 1 && words[0] == "c"
    let first = isPosition ? min(max(0, Int(words[1]) ?? 0), RedisNames.slots - 1) : 0
    let (slots, next) = try await keys(from: first, width)
    var items: [Item] = []
    for (slot, keys) in slots.sorted(by: { $0.key < $1.key }) where slot < next {
      let done = slot == first && isPosition && words.count > 2 ? words[2] : ""
      items += keys.filter { $0.text.hasPrefix(prefix) && $0.text > done }.sorted().map {
        Item(key: $0, place: "c:\(slot)")
      }
    }
    // A node that does not have a key any more, or never had it, says so.
    let node = nodes.master(of: first)?.address ?? nodes.options.location.addresses[0]
    return Found(items: items[...], next: next < RedisNames.slots ? "c:\(next)" : nil, node: node)
  }

  /// The keys of the slots from `first` on that one node has, and the next slot.
  private func keys(
    from first: Int, _ width: Int
  ) async throws(CacheError) -> (slots: [Int: Set<CacheKey>], next: Int) {
    let scan = RedisCommand("SCAN", "0", "MATCH", "\(names.start)*", "COUNT", String(Self.keysAtOnce))
    let deadline = ContinuousClock.now.advanced(by: nodes.options.timeout)
    while true {
      // A node with few keys names all of them sooner than it looks at many slots.
      var (replies, view) = try await answers(to: [scan], first)
      var (whole, end) = (view.slots, RedisNames.slots)
      guard let scanned = replies[0].elements, scanned.count == 2 else { throw otherForm }
      if scanned[0].text == "0" {
        replies = [scanned[1]]
      } else {
        end = try await self.end(from: first, width)
        (replies, view) = try await answers(to: (first..<end).map { Self.keys(in: $0) }, first)
        // A slot that has come meanwhile was perhaps listed before all of its keys had.
        whole.formIntersection(view.slots)
      }
      var slots: [Int: Set<CacheKey>] = [:]
      for reply in replies {
        guard let found = reply.elements else { throw otherForm }
        for key in keys(found) {
          if let slot = names.slot(of: names.name(of: key)), slot >= first { slots[slot, default: []].insert(key) }
        }
      }
      if let run = whole.ranges.first(where: { $0.contains(first) }) { return (slots, min(run.upperBound, end)) }
      if let importer = view.importers[first] {
        // Keys that the node did not have any more have arrived there by now.
        let reply = try await nodes.node(at: importer).ask(Self.keys(in: first))
        slots[first, default: []].formUnion(keys(reply.elements))
        return (slots, first + 1)
      }
      // The slot has another master now.
      if ContinuousClock.now >= deadline {
        throw CacheError(.busy, "\(store): the nodes do not agree on who has slot \(first)", hint: "try again later")
      }
      try await nodes.findMasters()
    }
  }

  /// The replies of the node that has `first` to `commands`, and what it says of its slots after them.
  private func answers(
    to commands: [RedisCommand], _ first: Int
  ) async throws(CacheError) -> (replies: [RedisValue], view: RedisClusterView) {
    let all = commands + [RedisCommand("CLUSTER", "NODES")]
    let replies = try await nodes.send(all, slot: first, isRead: true).map { reply throws(CacheError) in
      try checked(reply)
    }
    return (Array(replies.dropLast()), RedisClusterView(replies.last?.text ?? ""))
  }

  /// The error of a node that lists keys in no form that Redis has.
  private var otherForm: CacheError {
    CacheError(.failed, "\(store): a node lists keys in another form than Redis")
  }

  /// The end of the slots from `first` on that have `width` keys, as their node counts them, or of as many slots as one
  /// command counts.
  private func end(from first: Int, _ width: Int) async throws(CacheError) -> Int {
    let slots = first..<min(first + Self.slotsAtOnce, RedisNames.slots)
    let commands = slots.map { RedisCommand("CLUSTER", "COUNTKEYSINSLOT", String($0)) }
    let replies = try await nodes.send(commands, slot: first, isRead: true)
    var count: Int64 = 0
    for (slot, reply) in zip(slots, replies) {
      guard let number = try checked(reply).integer else { throw otherForm }
      count += number
      if count >= width { return slot + 1 }
    }
    return slots.upperBound
  }

  /// The command whose reply has all keys in `slot`.
  private static func keys(in slot: Int) -> RedisCommand {
    RedisCommand("CLUSTER", "GETKEYSINSLOT", String(slot), "1000000000")
  }
}

extension RedisScan {
  /// The entries under `keys`, with as many payloads as fit on a page. On one server it is the state of one moment,
  /// unless there are long entries.
  private func look(
    at keys: [CacheKey], _ includesPayloads: Bool, _ node: RedisAddress?
  ) async throws(CacheError) -> [Look] {
    var looks = keys.map { _ in Look.needs(end: RedisEntry.usualEnd, payloadBytes: 0) }
    while true {
      var open: [(index: Int, end: Int)] = []
      for (index, look) in looks.enumerated() { if case .needs(let end, _) = look { open.append((index, end)) } }
      if open.isEmpty { return looks }
      let commands = open.map { index, end in
        let name = names.name(of: keys[index])
        let command = end == .max ? RedisCommand("GET", name) : RedisCommand("GETRANGE", name, "-\(end)", "-1")
        return (name: name, command: command)
      }
      let replies = try await ask(commands, node)
      for ((index, end), reply) in zip(open, replies) {
        looks[index] = look(at: keys[index], reply, end, includesPayloads)
      }
      guard includesPayloads else { continue }
      var payloadBytes = 0
      let full = looks.firstIndex { look in
        payloadBytes += look.payloadBytes
        return payloadBytes > ScanRequest.maximumPayloadBytes
      }
      if let full { looks.removeSubrange(max(full, 1)...) }
    }
  }

  /// Reads the entry under `key` from `reply`: the last `end` bytes of its value, or all if they are fewer.
  private func look(at key: CacheKey, _ reply: RedisValue, _ end: Int, _ includesPayload: Bool) -> Look {
    if reply.isNil { return .gone }
    if reply.error != nil { return .unreadable(.notAnEntry(key)) }
    do throws(CacheError) {
      return try reply.withBytes { bytes throws(CacheError) in
        // It is gone, or an empty string.
        if bytes.isEmpty, end < .max { return .needs(end: .max, payloadBytes: 0) }
        let tail = try RedisEntry.Tail(bytes, of: key)
        if bytes.count == end, includesPayload { return .needs(end: .max, payloadBytes: tail.payloadBytes) }
        if bytes.count == end, tail.endLength > end { return .needs(end: tail.endLength + 1, payloadBytes: 0) }
        guard includesPayload else {
          let metadata = try tail.metadata(bytes, of: key)
          return .entry(ScannedEntry(key: key, metadata: metadata, payloadBytes: tail.payloadBytes))
        }
        let (metadata, length) = try RedisEntry.decode(bytes, of: key)
        let payload = bytes.extracting(0..<length).withUnsafeBufferPointer { Array($0) }
        return .entry(ScannedEntry(key: key, metadata: metadata, payload: payload))
      }
    } catch {
      return .unreadable(error)
    }
  }

  /// The replies to commands about the keys with these names, of which only `WRONGTYPE` is an error. On one server they
  /// are those of one moment. On a cluster the commands go to `node` first.
  private func ask(
    _ commands: [(name: String, command: RedisCommand)], _ node: RedisAddress?, isRead: Bool = true
  ) async throws(CacheError) -> [RedisValue] {
    if commands.isEmpty { return [] }
    guard let node else {
      let transaction = [RedisCommand("MULTI")] + commands.map(\.command) + [RedisCommand("EXEC")]
      var replies = try await nodes.send(transaction, slot: nil, isRead: isRead)
      if let results = replies.last?.elements, results.count == commands.count {
        replies = results
      } else {
        // Without room the server begins no transaction. So these are of several moments.
        replies = try await nodes.send(commands.map(\.command), slot: nil, isRead: isRead)
      }
      return try replies.map { reply throws(CacheError) in try checked(reply) }
    }
    var replies = (try? await nodes.node(at: node).send(commands.map(\.command))) ?? []
    for (index, (name, command)) in commands.enumerated() {
      if replies.indices.contains(index), replies[index].error == nil || replies[index].error?.word == "WRONGTYPE" {
        continue
      }
      // The slot is moving, or the node is lost: the one that has the key is found.
      let reply = try checked(try await nodes.send([command], slot: names.slot(of: name), isRead: isRead)[0])
      if replies.indices.contains(index) { replies[index] = reply } else { replies.append(reply) }
    }
    return replies
  }

  /// `reply`, unless it is an error other than `WRONGTYPE`.
  private func checked(_ reply: RedisValue) throws(CacheError) -> RedisValue {
    if let error = reply.error, error.word != "WRONGTYPE" { throw CacheError(error, store: store) }
    return reply
  }
}
