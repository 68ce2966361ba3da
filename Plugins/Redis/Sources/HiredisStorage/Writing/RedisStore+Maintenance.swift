internal import StorageSPI
internal import Synchronization

/// What a store holds, and how often it has changed.
struct RedisCount: Sendable {
  var tally = EntryTally()
  /// The totals of all parts together, by namespace.
  var totals: [String: EntryTally.Count] = [:]
  /// The number of changes to each part.
  var changes: [Int64] = []
  /// The memory that the tables take up on the servers, as the servers report it.
  var tableBytes = 0

  var statistics: StorageStatistics {
    let total = tally.total()
    return StorageStatistics(
      tally: tally, storageBytes: tableBytes + total.payloadBytes + total.entries * Self.bytesPerEntry)
  }

  /// What a server stores for an entry besides its payload: field names, times and index lines, in bytes. Measured with
  /// `MEMORY USAGE` on Redis 7.0, for a key of 60 bytes.
  private static let bytesPerEntry = 700
}

extension RedisStore {
  /// Counts the entries, without the ones that the server has dropped because they expired. Cost: a round trip, and one
  /// more for each 500 entries of a part that were dropped since the part was last written or counted.
  func count() throws(CacheError) -> RedisCount {
    var count = RedisCount()
    var replies = try router.perform(layout.parts.map(statisticsRequest)).map(\.value)
    for part in layout.parts {
      while replies[part].elements?.first?.integer == 1 { replies[part] = try router.perform(statisticsRequest(part)) }
      try add(replies[part], to: &count)
    }
    return count
  }

  private func statisticsRequest(_ part: Int) -> RedisRequest {
    RedisRequest(part, .statistics, keys: layout.tables(of: part))
  }

  private func add(_ answer: RedisValue, to count: inout RedisCount) throws(CacheError) {
    guard let values = answer.elements, values.count == 4, let memory = values[2].integer,
      let slots = RedisTally.counts(values[1]), let fields = values[1].elements,
      let totals = RedisTally.counts(values[3])
    else { throw .damagedTally(store: options.description) }
    for (namespace, part) in totals { count.totals[namespace] = (count.totals[namespace] ?? .init()) + part }
    for (field, part) in slots {
      guard let slot = RedisTally.slot(field) else { throw .damagedTally(store: options.description) }
      count.tally.add(part, to: slot)
    }
    count.tableBytes += Int(memory)
    let position = fields.firstIndex { $0.text == "changes" }
    count.changes.append(position.flatMap { fields[$0 + 1].number } ?? 0)
  }

  /// Removes what has expired at `now`, and forgets what the servers have dropped. Cost: a round trip for each 1,000
  /// expired entries of a part, and one for each 1,000 lines of its index.
  func compact(at now: Timestamp) throws(CacheError) {
    var open = layout.parts.map { (part: $0, kept: Int64(0)) }
    while !open.isEmpty {
      let replies = try router.perform(open.map { compactRequest($0.part, passingOver: $0.kept, at: now) })
      var rest: [(part: Int, kept: Int64)] = []
      for (place, reply) in zip(open, replies) {
        guard let values = reply.value.elements, values.count == 2, let kept = values[0].integer else {
          throw router.undecodable("compacting gives no count")
        }
        if values[1].integer == 1 { rest.append((place.part, place.kept + kept)) }
      }
      open = rest
    }
    for part in layout.parts { try tidy(part) }
  }

  private func compactRequest(_ part: Int, passingOver kept: Int64, at now: Timestamp) -> RedisRequest {
    // An entry that had already expired when it was written is kept for an extra minute.
    let numbers = [now.milliseconds, now.milliseconds + 60_000, kept, 1_000]
    return RedisRequest(
      part, .compact, keys: layout.tables(of: part), arguments: numbers.map { Array(String($0).utf8) }, isChange: true)
  }
}

/// Where the next search for index lines without an entry begins, by part.
final class RedisTidying: Sendable {
  fileprivate let positions = Mutex<[Int: String]>([:])
}

extension RedisStore {
  /// How many index lines to check in one step, during which the server answers no other client.
  private static let linesPerStep = 1_000
  /// How many steps a write takes if the server has no room.
  private static let stepsPerWrite = 4

  /// Forgets index lines of `parts` whose entries the server has evicted, and returns whether there were any. Cost: up
  /// to four round trips for each part; the next call continues where this one ends.
  func tidy(_ parts: Set<Int>) throws(CacheError) -> Bool {
    var count = 0
    for part in parts {
      var position = tidying.positions.withLock { $0[part] ?? "-" }
      for _ in 0..<Self.stepsPerWrite {
        let step = try tidy(part, from: position)
        count += step.forgotten
        position = step.next ?? "-"
        if step.next == nil { break }
      }
      let reached = position
      tidying.positions.withLock { $0[part] = reached }
    }
    return count > 0
  }

  /// Forgets all index lines of `part` whose entries the server has evicted. Cost: a round trip for each 1,000 lines.
  func tidy(_ part: Int) throws(CacheError) {
    var position: String? = "-"
    while let from = position { position = try tidy(part, from: from).next }
  }

  private func tidy(_ part: Int, from: String) throws(CacheError) -> (forgotten: Int, next: String?) {
    let arguments = [from, String(Self.linesPerStep)].map { Array($0.utf8) }
    let answer = try router.perform(
      RedisRequest(part, .tidy, keys: layout.tables(of: part), arguments: arguments, isChange: true))
    guard let values = answer.elements, values.count == 2, let forgotten = values[0].integer, let next = values[1].text
    else { throw router.undecodable("tidying gives no count") }
    return (Int(forgotten), next.isEmpty ? nil : next)
  }
}

extension RedisStore {
  /// Removes all entries and the tables, whatever their state, without needing memory.
  ///
  /// Cost: a round trip for each 1,000 entries of a part, and for each 1,000 keys on the part's server.
  func removeAll() throws(CacheError) {
    do throws(CacheError) {
      try checkFormat()
    } catch {
      guard error.code == .damaged else { throw error }
    }
    for part in layout.parts {
      while try clear(part) == 1 {}
      try removeUnlisted(part)
    }
  }

  /// Removes the entries of `part` that the index does not name: they were lost, but are still found by key. Entries
  /// that another process puts meanwhile stay.
  func removeUnlisted(_ part: Int) throws(CacheError) {
    let base = layout.base(of: part)
    var cursor = "0"
    repeat {
      let command = RedisCommand("SCAN", cursor, "MATCH", base + "*/*", "COUNT", "1000")
      guard let page = try router.perform(RedisRequest(part, command)).elements, page.count == 2,
        let next = page[0].text, let names = page[1].elements
      else { throw router.undecodable("a listing gives no keys") }
      // Everything else is not an entry of this store.
      let keys = names.compactMap { try? CacheKey(String($0.text?.dropFirst(base.count) ?? "")) }
      if !keys.isEmpty { _ = try clear(part, naming: keys) }
      cursor = next
    } while cursor != "0"
  }

  /// Removes some of what the tables of `part` name; returns 1 if there is more. If `keys` are given, it only removes
  /// those entries under them that the index does not name.
  private func clear(_ part: Int, naming keys: [CacheKey] = []) throws(CacheError) -> Int64? {
    let arguments = ([publisher] + keys.map(\.text)).map { Array($0.utf8) }
    return try router.perform(
      RedisRequest(part, .clear, keys: layout.tables(of: part), arguments: arguments, isChange: true)
    ).integer
  }
}
