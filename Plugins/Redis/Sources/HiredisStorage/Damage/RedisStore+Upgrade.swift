internal import StorageSPI

/// Moves the entries of a store of the first version to the second one. That had a hash for each entry and four tables for
/// each of 32 parts on a cluster, or for the only part on one server.
///
/// Each entry is in one of the two versions at every moment, so that an upgrade that is interrupted goes on when the store
/// is opened again. What is known of the use of entries is lost.
extension RedisStore {
  /// How many entries to move at once.
  private static let entriesAtOnce = 100

  /// A part of the first version.
  private struct FormerPart {
    let base: String
    /// The part of the second version on whose server it is.
    let part: Int

    var tables: [String] { ["keys", "expiry", "tally", "totals"].map { base + $0 } }
  }

  private var formerParts: [FormerPart] {
    guard layout.isSpread else { return [FormerPart(base: "\(layout.prefix):", part: 0)] }
    return (0..<32).map { number in
      let tag = "\(layout.prefix):\(number < 10 ? "0" : "")\(number)"
      return FormerPart(base: "{\(tag)}:", part: RedisSlot.number(of: tag.utf8))
    }
  }

  /// Whether there are entries of the first version. Cost: a round trip. Nodes that do not answer are skipped.
  func hasFormerEntries() throws(CacheError) -> Bool { try !formerPartsWithEntries().isEmpty }

  private func formerPartsWithEntries() throws(CacheError) -> [FormerPart] {
    let parts = formerParts
    let answers = try router.ask(parts.map { RedisRequest($0.part, RedisCommand("EXISTS", $0.tables[0])) })
    return zip(parts, answers).filter { $1?.value.integer == 1 }.map(\.0)
  }

  /// Moves all entries of the first version. Cost: three round trips for each 100 entries.
  func upgrade() throws(CacheError) {
    try beginUpgrade()
    for part in try formerPartsWithEntries() {
      while try moveSome(of: part) {}
    }
  }

  /// Removes all entries of the first version.
  func removeFormer() throws(CacheError) {
    for part in try formerPartsWithEntries() {
      while true {
        let lines = try former(part).map(\.line)
        guard try retire(lines, of: part) else { break }
      }
    }
  }

  /// Begins a new tally: on one server it has the same name in both versions.
  private func beginUpgrade() throws(CacheError) {
    guard !layout.isSpread else { return }
    let tally = layout.tables(of: 0)[1]
    do throws(CacheError) {
      let format = try router.perform(RedisRequest(0, RedisCommand("HGET", tally, "format")))
      if format.number == 1 { _ = try router.perform(RedisRequest(0, RedisCommand("UNLINK", tally))) }
    } catch {
      // What is no tally is for a repair.
      guard error.code == .damaged else { throw error }
    }
  }

  private typealias Former = (line: String, key: CacheKey?, entry: ReadEntry?)

  private func former(_ part: FormerPart) throws(CacheError) -> [Former] {
    let arguments = [part.base, String(Self.entriesAtOnce)].map { Array($0.utf8) }
    let answer = try router.perform(
      RedisRequest(part.part, .former, keys: [part.tables[0]], arguments: arguments))
    return answer.elements?.compactMap { element in
      guard let values = element.elements, values.count == 3, let line = values[0].text else { return nil }
      let key = values[1].text.flatMap { try? CacheKey($0) }
      return (line, key, ReadEntry(former: values[2].elements ?? []))
    } ?? []
  }

  /// Moves some entries, and returns whether there are more. What the second version has already stays as it is there.
  private func moveSome(of part: FormerPart) throws(CacheError) -> Bool {
    let page = try former(part)
    var applications: [RedisApplication] = []
    for (_, key, entry) in page {
      guard let key, let entry else { continue }
      var batch = WriteBatch()
      batch.require(key, .absent)
      batch.put(key, payload: entry.payload, metadata: entry.metadata)
      applications.append(application(try RedisBatch(batch), part: layout.part(of: key), .unbounded))
    }
    _ = try verdicts(applications)
    return try retire(page.map(\.line), of: part)
  }

  private func retire(_ lines: [String], of part: FormerPart) throws(CacheError) -> Bool {
    let arguments = ([part.base] + lines).map { Array($0.utf8) }
    let request = RedisRequest(part.part, .retire, keys: part.tables, arguments: arguments, isChange: true)
    return try router.perform(request).integer == 1
  }
}

extension ReadEntry {
  /// The entry in the fields of the first version; `nil` if it is gone or damaged.
  fileprivate init?(former values: [RedisValue]) {
    let numbers = values.dropFirst().prefix(3).compactMap { $0.number }
    guard values.count == 7, numbers.count == 3, !values[0].isNil, let contentType = values[4].text,
      let digits = values[6].text, let checksum: UInt64 = Hexadecimal.number(digits.utf8),
      let attributes = RedisEntry.attributes(values[5].bytes)
    else { return nil }
    let times = numbers.map { Timestamp(milliseconds: $0) }
    self.init(
      payload: values[0].bytes,
      metadata: EntryMetadata(
        storedAt: times[0], freshUntil: times[1], retainUntil: times[2], contentType: contentType,
        attributes: attributes, checksum: checksum))
  }
}
