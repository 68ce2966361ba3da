internal import StorageSPI
internal import Synchronization

/// Lists the entries of a store, which has no index: by `SCAN` on one server; on a cluster slot after slot, because the
/// cursors of its nodes mean nothing once slots have moved.
final class RedisScan: Sendable {
  private let nodes: RedisNodes
  private let names: RedisNames
  /// The store, for errors.
  private let store: String
  /// What the last page of a cluster left of the keys that were found for it, and the prefix and position for which that
  /// is. A node cannot name a part of the keys of a slot: without this each page would cost as much as all of a full slot.
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
    var next: String { "\(place) \(key)" }
  }

  /// Some keys, and the position behind them; `nil` if nothing follows.
  private typealias Found = (items: ArraySlice<Item>, next: String?)

  /// The entry under a key; `nil` if it is gone.
  private typealias Look = Result<ScannedEntry?, CacheError>

  /// The most keys to look for at once, during which a server answers no other client.
  private static let keysAtOnce = 1_000
  /// The same if their payloads are wanted.
  private static let payloadsAtOnce = 250
  /// The most slots to ask a master for one by one, if it has few keys.
  private static let slotsOneByOne = 32

  /// The page that `request` asks for. Cost: three or four round trips; more if most keys of a server are of others.
  func page(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    guard !request.isDescending else {
      throw CacheError(.unsupported, "the backend redis cannot scan from the last key to the first")
    }
    let masters = try await nodes.masters()
    var position = request.position
    var width = min(request.limit, request.includesPayloads ? Self.payloadsAtOnce : Self.keysAtOnce)
    while true {
      if Task.isCancelled { throw .cancelled }
      let (found, isDivisible) = try await find(position, request.prefix, width, masters)
      let looks = try await look(at: found.items.prefix(request.limit).map(\.key), request.includesPayloads, masters)
      let isUnreadable = looks.contains { if case .failure = $0 { true } else { false } }
      // A page ends at a cursor if it can: the keys between two cursors are others after a change.
      if isDivisible, width > 1, isUnreadable || looks.count < found.items.count {
        width = (width + 3) / 4
        continue
      }
      let (page, taken) = try page(of: found, looks)
      if names.isCluster, taken < found.items.count, let next = page.next {
        rest.withLock { $0 = (request.prefix, next, (found.items.dropFirst(taken), found.next)) }
      }
      guard page.entries.isEmpty, page.next != nil else { return page }
      if found.items.isEmpty { width = min(width * 2, 8 * Self.keysAtOnce) }
      position = page.next
    }
  }

  /// The page of the first items, which are there as `looks` says, and how many items it is about.
  private func page(of found: Found, _ looks: [Look]) throws(CacheError) -> (page: ScanPage, taken: Int) {
    let start = found.items.startIndex
    var page = ScanPage(
      [], next: looks.count < found.items.count ? found.items[start + looks.count - 1].next : found.next)
    for (index, look) in looks.enumerated() {
      switch look {
      case .success(let entry?): page.entries.append(entry)
      case .success(nil): break
      case .failure(let error):
        let item = found.items[start + index]
        guard page.entries.isEmpty else {
          page.next = found.items[start + index - 1].next
          return (page, index)
        }
        throw CacheError(
          error.code, error.message, hint: error.hint, key: error.key,
          cause: UnreadableEntry(item.key, next: item.next))
      }
    }
    return (page, looks.count)
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

  /// Passes the names of all entries to `body`, whatever is under them, until it returns `false`.
  func visitNames(_ body: ([String], [RedisMaster]) async throws(CacheError) -> Bool) async throws(CacheError) {
    let masters = try await nodes.masters()
    var position: String?
    repeat {
      let found = try await find(position, "", Self.keysAtOnce, masters).found
      guard try await body(found.items.map { names.name(of: $0.key) }, masters) else { return }
      position = found.next
    } while position != nil
  }

  /// Removes everything under the names of entries. Entries that others put meanwhile may stay.
  func removeAll() async throws(CacheError) {
    try await visitNames { found, masters throws(CacheError) in
      _ = try await ask(found.map { ($0, RedisCommand("UNLINK", $0)) }, masters, isRead: false)
      return true
    }
  }
}

/// Which keys there are.
extension RedisScan {
  /// The next keys, about `width` of them; and whether there may be fewer with a smaller `width`.
  private func find(
    _ position: String?, _ prefix: String, _ width: Int, _ masters: [RedisMaster]
  ) async throws(CacheError) -> (found: Found, isDivisible: Bool) {
    if names.isCluster { return (try await findInSlots(position, prefix, width, masters), false) }
    guard let server = masters.first else { return (([], nil), false) }
    // "s RUN CURSOR", or "s RUN CURSOR END KEY": of the keys between CURSOR and END, those up to KEY are done.
    var words = (position ?? "").split(separator: " ").map(String.init)
    if words.count < 3 || words[1] != server.runID { words = ["s", server.runID, "0"] }
    let done = words.count == 5 ? (end: words[3], key: words[4]) : nil
    // Such a position is within the fewest keys that a server gives at once. Their END stays the same while the server's
    // table has the same size; else all of them are listed again.
    let count = done == nil ? max(1, width - width / 8) : 1
    let (found, end) = try await scan(words[2], prefix, count, server)
    var keys = Set(found).sorted()
    if let done, done.end == end { keys.removeAll { $0.text <= done.key } }
    let place = "s \(server.runID) \(words[2]) \(end)"
    return ((keys.map { Item(key: $0, place: place) }[...], end == "0" ? nil : "s \(server.runID) \(end)"), done == nil)
  }

  /// The keys that begin with `prefix` behind `cursor`, and the next cursor.
  private func scan(
    _ cursor: String, _ prefix: String, _ count: Int, _ server: RedisMaster
  ) async throws(CacheError) -> (keys: [CacheKey], end: String) {
    let pattern = "\(names.start)\(Self.escaped(prefix))*"
    let command = RedisCommand("SCAN", cursor, "MATCH", pattern, "COUNT", String(count))
    let reply = try checked(try await nodes.send([command], to: server)[0]).elements
    guard let reply, reply.count == 2, let end = reply[0].text else {
      throw CacheError(.failed, "\(server.address): the server answers SCAN in another form than Redis")
    }
    return (keys(reply[1]), end)
  }

  /// `text` as a pattern that means itself.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { $0 += "*?[]\\".contains($1) ? "\\\($1)" : "\($1)" }
  }

  /// The keys of this store that `reply` names.
  private func keys(_ reply: RedisValue) -> [CacheKey] {
    (reply.elements ?? []).compactMap { $0.text.flatMap { names.key(named: $0) } }
  }

  /// The keys of as many slots as it takes for `width` keys.
  private func findInSlots(
    _ position: String?, _ prefix: String, _ width: Int, _ masters: [RedisMaster]
  ) async throws(CacheError) -> Found {
    let kept = rest.withLock { rest in
      guard let (known, place, found) = rest, known == prefix, place == position else { return Found?.none }
      rest = nil
      return found
    }
    if let kept, kept.items.count >= width || kept.next == nil { return kept }
    // "c SLOT", or "c SLOT KEY": of the keys in SLOT, those up to KEY are done.
    let words = (kept?.next ?? position ?? "").split(separator: " ").map(String.init)
    var slot = words.count > 1 ? Int(words[1]) ?? 0 : 0
    var done = words.count > 2 ? words[2] : ""
    var (items, slots) = (Array(kept?.items ?? []), 16)
    while slot < RedisNames.slots, items.count < width {
      let range = slot..<min(slot + slots, RedisNames.slots)
      for (slot, keys) in try await keys(in: range, masters).sorted(by: { $0.key < $1.key }) {
        if slot > range.lowerBound { done = "" }
        let wanted = keys.filter { $0.text.hasPrefix(prefix) && $0.text > done }
        items += wanted.sorted().map { Item(key: $0, place: "c \(slot)") }
      }
      (slot, slots, done) = (range.upperBound, min(slots * 2, 2_048), "")
    }
    return (items[...], slot < RedisNames.slots ? "c \(slot)" : nil)
  }

  private func keys(in range: Range<Int>, _ masters: [RedisMaster]) async throws(CacheError) -> [Int: Set<CacheKey>] {
    var (masters, found) = (masters, [Int: Set<CacheKey>]())
    while true {
      for master in masters { try await add(range.filter(master.slots.contains), of: master, to: &found) }
      // A key that has moved before its master was asked is now on one that imports the slot, or has it.
      let now = try await nodes.masters()
      for master in now { try await add(range.filter(master.importing.contains), of: master, to: &found) }
      let owned = RangeSet(range)
      if now.elementsEqual(
        masters, by: { $0.address == $1.address && $0.slots.intersection(owned) == $1.slots.intersection(owned) })
      {
        return found
      }
      masters = now
    }
  }

  /// Adds the keys that `master` has in `slots`.
  private func add(
    _ slots: [Int], of master: RedisMaster, to found: inout [Int: Set<CacheKey>]
  ) async throws(CacheError) {
    if slots.isEmpty { return }
    // To ask a master with few keys for all of them takes less than to ask for each of many slots.
    if slots.count > Self.slotsOneByOne,
      try checked(try await nodes.send([RedisCommand("DBSIZE")], to: master)[0]).integer ?? .max < slots.count
    {
      let wanted = Set(slots)
      var cursor = "0"
      repeat {
        let (keys, end) = try await scan(cursor, "", slots.count, master)
        for key in keys {
          guard let slot = names.slot(of: names.name(of: key)), wanted.contains(slot) else { continue }
          found[slot, default: []].insert(key)
        }
        cursor = end
      } while cursor != "0"
      return
    }
    let commands = slots.map { RedisCommand("CLUSTER", "GETKEYSINSLOT", String($0), "1000000000") }
    for (slot, reply) in zip(slots, try await nodes.send(commands, to: master)) {
      found[slot, default: []].formUnion(keys(try checked(reply)))
    }
  }
}

/// What is under the keys.
extension RedisScan {
  /// What is under `keys`; of payloads, as many as a page has.
  private func look(
    at keys: [CacheKey], _ includesPayloads: Bool, _ masters: [RedisMaster]
  ) async throws(CacheError) -> [Look] {
    let named = keys.map { names.name(of: $0) }
    guard includesPayloads else { return try await look(atEndsOf: keys, named, masters) }
    let sizes = try await ask(named.map { ($0, RedisCommand("STRLEN", $0)) }, masters)
    var bytes = 0
    let fitting = sizes.prefix { size in
      bytes += Int(size.integer ?? 0)
      return bytes <= ScanRequest.maximumPayloadBytes
    }
    let wanted = named.prefix(max(1, fitting.count))
    let replies = try await ask(wanted.map { ($0, RedisCommand("GET", $0)) }, masters)
    return zip(keys, replies).map { key, reply in
      look(at: key, reply) { bytes throws(CacheError) in
        let (metadata, length) = try RedisEntry.decode(bytes, of: key)
        let payload = bytes.extracting(0..<length).withUnsafeBufferPointer { Array($0) }
        return ScannedEntry(key: key, metadata: metadata, payload: payload)
      }
    }
  }

  /// The same without the payloads.
  private func look(
    atEndsOf keys: [CacheKey], _ named: [String], _ masters: [RedisMaster]
  ) async throws(CacheError) -> [Look] {
    var looks = [Look](repeating: .success(nil), count: keys.count)
    var commands = named.map { RedisCommand("GETRANGE", $0, "-\(RedisEntry.usualEnd)", "-1") }
    var indices = Array(keys.indices)
    for isAgain in [false, true] where !indices.isEmpty {
      let ends = try await ask(zip(indices, commands).map { (named[$0], $1) }, masters)
      var further: [(index: Int, command: RedisCommand)] = []
      for (index, end) in zip(indices, ends) {
        let (key, name) = (keys[index], named[index])
        looks[index] = look(at: key, end) { bytes throws(CacheError) in
          if bytes.isEmpty, !isAgain {
            // It is gone, or an empty string.
            further.append((index, RedisCommand("GET", name)))
            return nil
          }
          let tail = try RedisEntry.Tail(bytes, of: key)
          if tail.endLength > bytes.count, !isAgain {
            further.append((index, RedisCommand("GETRANGE", name, "-\(tail.endLength)", "-1")))
            return nil
          }
          let metadata = try tail.metadata(bytes, of: key)
          return ScannedEntry(key: key, metadata: metadata, payloadBytes: tail.payloadBytes)
        }
      }
      (indices, commands) = (further.map(\.index), further.map(\.command))
    }
    return looks
  }

  /// What `entry` makes of a reply.
  private func look(
    at key: CacheKey, _ reply: RedisValue, _ entry: (Span<UInt8>) throws(CacheError) -> ScannedEntry?
  ) -> Look {
    if reply.isNil { return .success(nil) }
    if reply.error != nil { return .failure(.notAnEntry(key)) }
    do throws(CacheError) {
      return .success(try reply.withBytes(entry))
    } catch {
      return .failure(error)
    }
  }

  /// The replies to commands about the keys with these names, of which only `WRONGTYPE` is an error. On one server they
  /// are those of one moment.
  private func ask(
    _ commands: [(name: String, command: RedisCommand)], _ masters: [RedisMaster], isRead: Bool = true
  ) async throws(CacheError) -> [RedisValue] {
    if commands.isEmpty { return [] }
    guard names.isCluster else {
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
    var replies = [RedisValue?](repeating: nil, count: commands.count)
    let slots = commands.map { names.slot(of: $0.name) ?? 0 }
    for master in masters {
      let indices = commands.indices.filter { master.slots.contains(slots[$0]) }
      if indices.isEmpty { continue }
      let answers = try await nodes.send(indices.map { commands[$0].command }, to: master)
      for (index, answer) in zip(indices, answers) { replies[index] = answer }
    }
    var results: [RedisValue] = []
    for (index, reply) in replies.enumerated() {
      if let reply, reply.error == nil || reply.error?.word == "WRONGTYPE" {
        results.append(reply)
      } else {
        // The slot is moving: the node that has the key is found.
        let again = try await nodes.send([commands[index].command], slot: slots[index], isRead: isRead)
        results.append(try checked(again[0]))
      }
    }
    return results
  }

  /// `reply`, unless it is an error other than `WRONGTYPE`.
  private func checked(_ reply: RedisValue) throws(CacheError) -> RedisValue {
    if let error = reply.error, error.word != "WRONGTYPE" { throw CacheError(error, store: store) }
    return reply
  }
}
