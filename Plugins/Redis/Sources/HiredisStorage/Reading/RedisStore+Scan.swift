internal import StorageSPI

extension RedisStore {
  /// The first `limit` entries of `range`, in order. On a cluster each part is seen at one moment.
  ///
  /// Cost: a round trip, which asks all parts at once; on a cluster more if keys are spread unevenly.
  /// - Throws: `CacheError`: `damaged` if one of them is unreadable; the message names it.
  func scan(_ range: KeyRange, limit: Int) throws(CacheError) -> [EntrySummary] {
    let found = try list(range, limit: limit)
    if let damaged = found.first(where: \.isDamaged) { throw unreadable(damaged.summary.key) }
    return found.map(\.summary)
  }

  /// The entries for `scan`, and the keys of the damaged ones.
  func list(_ range: KeyRange, limit: Int) throws(CacheError) -> [RedisListing] {
    guard let lines = RedisLines(range), limit > 0 else { return [] }
    var pages = layout.parts.map { RedisPage(part: $0, from: lines.first) }
    // What a part probably has of the first entries, plus a few.
    let size = layout.partCount == 1 ? limit : min(limit, limit / layout.partCount * 2 + 8)
    var found: [RedisListing] = []
    while found.count < limit {
      try fill(&pages, to: lines.last, size)
      guard let next = RedisPage.takeFirst(&pages) else { break }
      found.append(next)
    }
    return found
  }

  /// Requests more from each part that has nothing left.
  private func fill(_ pages: inout [RedisPage], to last: String, _ size: Int) throws(CacheError) {
    while pages.contains(where: \.needsMore) { try fillOnce(&pages, to: last, size) }
  }

  private func fillOnce(_ pages: inout [RedisPage], to last: String, _ size: Int) throws(CacheError) {
    // Also fills the parts that will be empty soon: each round is a round trip.
    let indices = pages.indices.filter { pages[$0].isNearlyEmpty }
    let requests = indices.map { index in
      let arguments = [pages[index].from, last, String(size)].map { Array($0.utf8) }
      return RedisRequest(pages[index].part, .scan, keys: layout.tables(of: pages[index].part), arguments: arguments)
    }
    for (index, reply) in zip(indices, try router.perform(requests)) {
      guard let values = reply.value.elements, values.count == 3, let isLast = values[0].integer,
        let from = values[1].text, let entries = values[2].elements
      else { throw router.undecodable("a scan gives no list") }
      pages[index].append(entries.compactMap(RedisListing.init), next: from, isLast: isLast == 1)
    }
  }
}

/// An entry as the script `scan` lists it.
struct RedisListing {
  /// For an unreadable entry, this has the times from its index line, and its checksum, or 0 if that is invalid.
  let summary: EntrySummary
  let isDamaged: Bool

  /// `nil` if the index line has an invalid key, which a check reports.
  init?(_ value: RedisValue) {
    let values = value.elements ?? []
    guard values.count == RedisEntry.fields.count + 4, let text = values[6].text, let key = try? CacheKey(text),
      let bytes = values[7].number, let fresh = values[8].number, let retain = values[9].number
    else { return nil }
    let slot = EntryTally.Slot(namespace: key.namespace, freshSlot: fresh, retainSlot: retain)
    let metadata = RedisEntry.metadata(values)
    isDamaged = metadata == nil
    summary = EntrySummary(
      key: key, metadata: metadata ?? RedisEntry.metadata(ofDamaged: slot, values[5]), payloadBytes: Int(bytes))
  }
}

/// The index lines for a range of keys, in the form of `ZRANGEBYLEX`.
///
/// A line is a key, a space and more. A space is less than every character of a key, so lines sort by key, and `!`, the
/// next character, comes after all lines of one key.
struct RedisLines {
  let first: String
  let last: String

  /// `nil` if no key can be in the range.
  init?(_ range: KeyRange) {
    guard range.prefix.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    let after = range.after.map { "\($0.text)!" } ?? ""
    let start = max(after, range.prefix)
    first = start.isEmpty ? "-" : "[\(start)"
    // DEL is greater than every character of a key.
    last = range.prefix.isEmpty ? "+" : "(\(range.prefix)\u{7F}"
  }
}

/// A scan's view of one part of the store.
private struct RedisPage {
  let part: Int
  /// The line at which the next request starts.
  private(set) var from: String
  private var entries: ArraySlice<RedisListing> = []
  private var isComplete = false

  init(part: Int, from: String) { (self.part, self.from) = (part, from) }

  var needsMore: Bool { entries.isEmpty && !isComplete }
  var isNearlyEmpty: Bool { entries.count < 4 && !isComplete }

  mutating func append(_ more: [RedisListing], next: String, isLast: Bool) {
    from = next
    entries += more
    isComplete = isLast
  }

  /// Takes the first entry of all pages; `nil` if none has any. Fill every page that needs more first.
  static func takeFirst(_ pages: inout [RedisPage]) -> RedisListing? {
    var least: Int?
    for index in pages.indices {
      guard let entry = pages[index].entries.first else { continue }
      if let other = least.flatMap({ pages[$0].entries.first }), other.summary.key <= entry.summary.key { continue }
      least = index
    }
    return least.flatMap { pages[$0].entries.popFirst() }
  }
}
