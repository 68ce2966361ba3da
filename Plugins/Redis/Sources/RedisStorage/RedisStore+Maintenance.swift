internal import StorageSPI

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
