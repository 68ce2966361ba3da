internal import StorageSPI

extension RedisStore {
  /// The first `limit` entries of `range`, in order. On a cluster each part is seen as it is at one moment.
  ///
  /// Cost: a round trip, in which all parts are asked at once; on a cluster more where keys are spread unevenly.
  func scan(_ range: KeyRange, limit: Int) throws(StorageError) -> [EntrySummary] {
    guard let lines = RedisLines(range), limit > 0 else { return [] }
    var pages = layout.parts.map { RedisPage(part: $0, from: lines.first) }
    // What a part probably has of the first entries, and a few more.
    let size = layout.partCount == 1 ? limit : min(limit, limit / layout.partCount * 2 + 8)
    var found: [EntrySummary] = []
    while found.count < limit {
      try fill(&pages, to: lines.last, size)
      guard let next = RedisPage.takeFirst(&pages) else { break }
      found.append(next)
    }
    return found
  }

  /// Asks for more of each part of which nothing is left.
  private func fill(_ pages: inout [RedisPage], to last: String, _ size: Int) throws(StorageError) {
    while pages.contains(where: \.needsMore) { try fillOnce(&pages, to: last, size) }
  }

  private func fillOnce(_ pages: inout [RedisPage], to last: String, _ size: Int) throws(StorageError) {
    // Those that will be empty soon are filled along with those that are: each round is a round trip.
    let indices = pages.indices.filter { pages[$0].isNearlyEmpty }
    let requests = indices.map { index in
      let arguments = [pages[index].from, last, String(size)].map { Array($0.utf8) }
      return RedisRequest(pages[index].part, .scan, keys: layout.tables(of: pages[index].part), arguments: arguments)
    }
    for (index, reply) in zip(indices, try router.perform(requests)) {
      guard let values = reply.value.elements, values.count == 3, let isLast = values[0].integer,
        let from = values[1].text, let entries = values[2].elements
      else { throw router.undecodable("a scan gives no list") }
      var summaries: [EntrySummary] = []
      for entry in entries { if let summary = summary(entry) { summaries.append(summary) } }
      pages[index].append(summaries, next: from, isLast: isLast == 1)
    }
  }

  /// What is said of an entry; `nil` where the index has a line with a key that is none, which a check names.
  ///
  /// One that cannot be read is as old as the index says, and has its checksum or, where that is none, 0: so it is listed,
  /// can be removed and goes when room is needed. Reading it fails.
  private func summary(_ value: RedisValue) -> EntrySummary? {
    let values = value.elements ?? []
    guard values.count == RedisEntry.fields.count + 4, let text = values[6].text, let key = try? CacheKey(text),
      let bytes = values[7].number, let fresh = values[8].number, let retain = values[9].number
    else { return nil }
    let slot = EntryTally.Slot(namespace: key.namespace, freshSlot: fresh, retainSlot: retain)
    let metadata = RedisEntry.metadata(values) ?? RedisEntry.metadata(ofDamaged: slot, values[5])
    return EntrySummary(key: key, metadata: metadata, payloadBytes: Int(bytes))
  }
}

/// The lines of the index that belong to a range of keys, as `ZRANGEBYLEX` takes them.
///
/// A line is a key, a space and more. A space is less than all that a key may hold, so that lines are in the order of
/// their keys, and `!`, the next character, comes after all lines of one key.
struct RedisLines {
  let first: String
  let last: String

  /// `nil` where no key can be in the range.
  init?(_ range: KeyRange) {
    guard range.prefix.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    let after = range.after.map { "\($0.text)!" } ?? ""
    let start = max(after, range.prefix)
    first = start.isEmpty ? "-" : "[\(start)"
    // DEL is more than all that a key may hold.
    last = range.prefix.isEmpty ? "+" : "(\(range.prefix)\u{7F}"
  }
}

/// What a scan knows of a part of the store.
private struct RedisPage {
  let part: Int
  /// From which line on to ask for more.
  private(set) var from: String
  private var entries: ArraySlice<EntrySummary> = []
  private var isComplete = false

  init(part: Int, from: String) { (self.part, self.from) = (part, from) }

  var needsMore: Bool { entries.isEmpty && !isComplete }
  var isNearlyEmpty: Bool { entries.count < 4 && !isComplete }

  mutating func append(_ more: [EntrySummary], next: String, isLast: Bool) {
    from = next
    entries += more
    isComplete = isLast
  }

  /// Takes the first entry of all pages; `nil` where none has any. None may need more.
  static func takeFirst(_ pages: inout [RedisPage]) -> EntrySummary? {
    var least: Int?
    for index in pages.indices {
      guard let entry = pages[index].entries.first else { continue }
      if let other = least.flatMap({ pages[$0].entries.first }), other.key <= entry.key { continue }
      least = index
    }
    return least.flatMap { pages[$0].entries.popFirst() }
  }
}
