internal import StorageSPI

/// A store without tables, on a server that evicts by itself. What it holds is found by `SCAN`, which looks at all keys of
/// the server.
extension RedisStore {
  /// How many entries to look at in one step, during which the server answers no other client.
  private static let entriesAtOnce = 1_000

  /// Throws `unsupportedFormat` if a store with tables is there: it would not learn of changes to its entries.
  func checkAbsenceOfTables() throws(CacheError) {
    var command = RedisCommand("EXISTS")
    command.append(layout.tables(of: 0))
    guard try router.perform(RedisRequest(0, command)).integer == 0 else { throw ofOther("redis") }
  }

  /// Whether there is an entry. Cost: until one is found, a round trip for each 1,000 keys of the server.
  func hasEntries() throws(CacheError) -> Bool {
    var found = false
    try eachPage(of: KeyRange()) { keys throws(CacheError) in
      found = !keys.isEmpty
      return !found
    }
    return found
  }

  /// The first `limit` entries of `range`, and the damaged ones, each as it is when it is looked at.
  ///
  /// Cost: the server looks at all its keys; not again for a scan that continues within two seconds. The keys of the range
  /// are kept in memory until then.
  func listUnindexed(
    _ range: KeyRange, _ limit: Int
  ) throws(CacheError) -> (entries: [RedisListing], hasMore: Bool) {
    var keys = if let kept = ahead.take(range) { kept } else { try allKeys(of: range) }
    var found: [RedisListing] = []
    while found.count < limit, !keys.isEmpty {
      let page = keys.take(min(limit - found.count, Self.entriesAtOnce))
      found += try look(at: page.compactMap { try? CacheKey($0) })
    }
    // Scanning all keys is slow, so a listing keeps using them as long as its pages follow each other.
    keys.renew()
    ahead.keep(keys, of: range, after: found.last?.summary.key)
    return (found, !keys.isEmpty)
  }

  /// Counts the entries. Cost: the server looks at all its keys, then at each entry.
  func countUnindexed() throws(CacheError) -> RedisCount {
    var count = RedisCount()
    try eachEntry { entry in
      let slot = SlotTally.Slot(namespace: entry.summary.key.namespace, entry.summary.metadata)
      count.tally.add(SlotTally.Count(entries: 1, payloadBytes: entry.summary.payloadBytes), to: slot)
    }
    return count
  }

  /// Removes what has expired at `now`. Cost: the server looks at all its keys, then at each entry.
  func compactUnindexed(at now: Timestamp) throws(CacheError) {
    try eachEntry { entry throws(CacheError) in
      let (key, metadata) = (entry.summary.key, entry.summary.metadata)
      guard !entry.isDamaged, metadata.retainUntil <= now else { return }
      do throws(CacheError) { try apply(RedisBatch(removing: key, withChecksum: metadata.checksum)) } catch {
        // Another process has replaced the entry.
        guard error.code == .conflict else { throw error }
      }
    }
  }

  /// Checks every entry. Cost: the server looks at all its keys, then at each entry.
  func examineUnindexed() throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    try eachEntry { entry in
      let key = entry.summary.key
      if entry.isDamaged {
        issues.append(IntegrityIssue(key: key, kind: .undecodable, message: "entry \(key): it is not what was written"))
      }
    }
    return issues
  }

  private func eachEntry(_ body: (RedisListing) throws(CacheError) -> Void) throws(CacheError) {
    var keys = try allKeys(of: KeyRange())
    while !keys.isEmpty {
      for entry in try look(at: keys.take(Self.entriesAtOnce).compactMap { try? CacheKey($0) }) { try body(entry) }
    }
  }

  /// The keys of `range`, in order.
  private func allKeys(of range: KeyRange) throws(CacheError) -> RedisLineBuffer {
    var (buffer, keys) = (RedisLineBuffer(from: "", generation: ahead.generation), Set<CacheKey>())
    try eachPage(of: range) { page in
      keys.formUnion(page.lazy.filter { range.contains($0) })
      return true
    }
    let sorted = range.isDescending ? keys.sorted(by: >) : keys.sorted()
    buffer.fill(sorted.map(\.text), to: nil, at: .now)
    return buffer
  }

  private func eachPage(
    of range: KeyRange, _ body: ([CacheKey]) throws(CacheError) -> Bool
  ) throws(CacheError) {
    for group in router.topology.groups { try eachPage(in: group, beginning: range.prefix, body) }
  }

  /// The entries under `keys`, skipping any that no longer exist.
  private func look(at keys: [CacheKey]) throws(CacheError) -> [RedisListing] {
    let request = RedisRequest(
      0, .ends, keys: keys.map { layout.name(of: $0) }, arguments: [Array(String(RedisEntry.usualLength).utf8)])
    guard let ends = try router.perform(request).elements, ends.count == keys.count else {
      throw router.undecodable("a scan gives no entries")
    }
    return zip(keys, ends).compactMap { RedisListing($0, $1) }
  }
}
