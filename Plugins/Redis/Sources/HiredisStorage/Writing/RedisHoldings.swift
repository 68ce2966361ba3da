internal import StorageSPI
internal import Synchronization

/// A snapshot of what each part of a cluster holds; bounds apply to all parts together.
///
/// It is refreshed after a second, and always if there may be little room. So a writer far from its bounds asks only
/// the part of its entry.
final class RedisHoldings: Sendable {
  private struct Known {
    /// By part, then by namespace.
    let parts: [[String: EntryTally.Count]]
    let time: ContinuousClock.Instant
    /// How much this handle may have added since.
    var growth = EntryTally.Count()
  }

  private let known = Mutex<Known?>(nil)
  private static let lifetime = Duration.seconds(1)

  /// What the parts outside `parts` hold, without the exempt namespace. It is exact if less than a tenth of `bounds` is
  /// left, and at most a second old otherwise.
  func ofOthers(
    than parts: Set<Int>, adding batch: RedisBatch, _ bounds: StoreBounds, _ store: RedisStore
  ) throws(CacheError) -> EntryTally.Count {
    if let known = note(batch.growth), known.time.duration(to: .now) < Self.lifetime {
      let total = Self.sum(known.parts, except: [], bounds) + known.growth
      let isRoomy =
        total.entries < bounds.maxEntries / 10 * 9 && total.payloadBytes < bounds.maxPayloadBytes / 10 * 9
      if isRoomy { return Self.sum(known.parts, except: parts, bounds) }
    }
    let fresh = Known(parts: try store.totals(), time: .now, growth: batch.growth)
    known.withLock { $0 = fresh }
    return Self.sum(fresh.parts, except: parts, bounds)
  }

  /// The snapshot, after adding `growth` to it.
  private func note(_ growth: EntryTally.Count) -> Known? {
    known.withLock { known in
      guard var changed = known else { return nil }
      changed.growth = changed.growth + growth
      known = changed
      return changed
    }
  }

  private static func sum(
    _ parts: [[String: EntryTally.Count]], except excluded: Set<Int>, _ bounds: StoreBounds
  ) -> EntryTally.Count {
    parts.enumerated().filter { !excluded.contains($0.offset) }.flatMap(\.element)
      .reduce(EntryTally.Count()) { sum, part in part.key == bounds.exemptNamespace ? sum : sum + part.value }
  }
}

extension RedisBatch {
  /// The most by which the batch can make a store grow.
  fileprivate var growth: EntryTally.Count {
    changes.values.reduce(EntryTally.Count()) { sum, change in
      guard case .put = change else { return sum }
      return sum + EntryTally.Count(entries: 1, payloadBytes: change.payloadBytes)
    }
  }
}

extension RedisStore {
  /// What each part holds, by namespace. Cost: a round trip to each node.
  fileprivate func totals() throws(CacheError) -> [[String: EntryTally.Count]] {
    let replies = try router.perform(
      layout.parts.map { RedisRequest($0, RedisCommand("HGETALL", layout.tables(of: $0)[3])) })
    var parts: [[String: EntryTally.Count]] = []
    for reply in replies {
      guard let totals = RedisTally.counts(reply.value) else { throw .damagedTally(store: options.description) }
      parts.append(totals)
    }
    return parts
  }
}

/// Decodes the tables `tally` and `totals`: each field has a number of entries and of bytes.
enum RedisTally {
  /// The counts in a hash by field, without the fields of a single number; `nil` if the hash is not one of this
  /// engine's.
  static func counts(_ hash: RedisValue) -> [String: EntryTally.Count]? {
    guard let values = hash.elements, values.count.isMultiple(of: 2) else { return nil }
    var counts: [String: EntryTally.Count] = [:]
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let field = values[index].text, let value = values[index + 1].text else { return nil }
      let numbers = value.split(separator: " ").compactMap { Int($0) }
      if numbers.count == 1 { continue }
      guard numbers.count == 2 else { return nil }
      counts[field] = EntryTally.Count(entries: numbers[0], payloadBytes: numbers[1])
    }
    return counts
  }

  /// The slot that a field such as "cities 1611123 1611126" names; `nil` if it names none.
  static func slot(_ field: some StringProtocol) -> EntryTally.Slot? {
    let words = field.split(separator: " ")
    guard words.count == 3, CacheKey.isNamespace(words[0]), let fresh = Int64(words[1]), let retain = Int64(words[2])
    else { return nil }
    return EntryTally.Slot(namespace: String(words[0]), freshSlot: fresh, retainSlot: retain)
  }
}
