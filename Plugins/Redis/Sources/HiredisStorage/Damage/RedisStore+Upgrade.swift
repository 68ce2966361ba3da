internal import StorageSPI

/// Moves the entries of a store of the first version to the second one. That had a hash for each entry and four tables for
/// each of 32 parts on a cluster, or for the only part on one server.
///
/// Each entry is in one of the two versions at every moment, so that an upgrade that is interrupted goes on when the store
/// is opened again. What is known of the use of entries is lost.
extension RedisStore {
  /// How many entries to move at once, and how many bytes of payloads.
  private static let (entriesAtOnce, bytesAtOnce) = (100, 4 << 20)

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
    do throws(CacheError) {
      let answers = try router.ask(parts.map { RedisRequest($0.part, RedisCommand("TYPE", $0.tables[0])) })
      return zip(parts, answers).filter { $1?.value.text == "zset" }.map(\.0)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      // A user whose rules are for this version may see its keys, and not those of the first one on a cluster.
      _ = try router.ask(parts.map { RedisRequest($0.part, RedisCommand("EXISTS", layout.tables(of: $0.part)[0])) })
      return []
    }
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
    _ = try router.perform(RedisRequest(0, .upgrade, keys: [layout.tables(of: 0)[1]]))
  }

  private typealias Former = (line: [UInt8], key: CacheKey?, entry: ReadEntry?)

  private func former(_ part: FormerPart) throws(CacheError) -> [Former] {
    let arguments = [part.base, String(Self.entriesAtOnce), String(Self.bytesAtOnce)].map { Array($0.utf8) }
    let answer = try router.perform(
      RedisRequest(part.part, .former, keys: [part.tables[0]], arguments: arguments))
    return answer.elements?.compactMap { element in
      guard let values = element.elements, values.count == 3 else { return nil }
      let key = values[1].text.flatMap { try? CacheKey($0) }
      return (values[0].bytes, key, ReadEntry(former: values[2].elements ?? []))
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
      var application = application(try RedisBatch(batch), part: layout.part(of: key), .unbounded)
      // On one server both versions have the same key for it: what was removed or replaced meanwhile is not there.
      application.requiresFormer = !layout.isSpread
      applications.append(application)
    }
    _ = try verdicts(applications)
    return try retire(page.map(\.line), of: part)
  }

  private func retire(_ lines: [[UInt8]], of part: FormerPart) throws(CacheError) -> Bool {
    let arguments = [Array(part.base.utf8)] + lines
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
