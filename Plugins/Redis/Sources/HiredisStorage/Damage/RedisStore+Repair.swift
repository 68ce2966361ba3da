internal import StorageSPI

extension RedisStore {
  /// How often to recount the tally and totals if others write meanwhile.
  private static let attempts = 20

  /// Removes the entries that are unreadable or that `plan` finds unsound, then makes the index agree with the rest: it
  /// corrects wrong lines, adds missing ones, and drops those whose entries are gone. Finally it recounts the tally.
  ///
  /// Each step leaves the store consistent, and others can keep using it. Cost: a check, then every entry is read, and the
  /// servers look at all their keys.
  func repair(_ plan: RepairPlan) throws(CacheError) -> RepairReport {
    guard layout.isIndexed else { return try repairUnindexed(plan) }
    try upgrade()
    let foreign = try removeForeignIndexes()
    let issues = try examine()
    var (saved, lost, mended) = (0, [IntegrityIssue](), issues.filter { $0.key == nil })
    if !foreign.isEmpty { mended.append(.foreignIndex) }
    var findings: [CacheKey: IntegrityIssue] = [:]
    for issue in issues { if let key = issue.key { findings[key] = issue } }
    // First, because what follows subtracts from the tally, which must be readable for that.
    let parts = try recount(layout.parts)
    for line in parts.values.lazy.flatMap(\.lines).sorted(by: { $0.key < $1.key }) {
      let finding = findings.removeValue(forKey: line.key)
      switch try mend(line.key, line, plan) {
      case .whole:
        saved += 1
        if let finding { mended.append(finding) }
      case .gone: if let finding { lost.append(finding) }
      case .lost(let issue): lost.append(issue)
      }
    }
    // Their lines have been forgotten since.
    lost += findings.values.sorted { $0.message < $1.message }
    var unlisted: [Int: Int] = [:]
    try eachUnlisted { key throws(CacheError) in
      unlisted[layout.part(of: key), default: 0] += 1
      switch try mend(key, nil, plan, listing: true) {
      case .whole: saved += 1
      case .gone: return
      case .lost(let issue): lost.append(issue)
      }
    }
    try tidyAll(layout.parts)
    _ = try recount(layout.parts)
    if let loss = loss(parts, unlisted: unlisted, foreign: foreign) { lost.append(loss) }
    return RepairReport(saved: saved, lost: lost, mended: mended)
  }

  /// Removes keys of other types in the places of indexes, and returns the parts that had one.
  private func removeForeignIndexes() throws(CacheError) -> Set<Int> {
    let indexes = layout.parts.map { (part: $0, name: layout.tables(of: $0)[0]) }
    let types = try router.perform(indexes.map { RedisRequest($0.part, RedisCommand("TYPE", $0.name)) })
    let foreign = zip(indexes, types).filter { !["zset", "none"].contains($1.value.text) }.map(\.0)
    if !foreign.isEmpty {
      _ = try router.perform(foreign.map { RedisRequest($0.part, RedisCommand("UNLINK", $0.name)) })
    }
    return Set(foreign.map(\.part))
  }

  /// What may have been lost with the index or the tally: entries that only one of them could name, or count.
  ///
  /// - Parameters:
  ///   - parts: the tables before the repair.
  ///   - unlisted: how many entries were found that no index names, by part.
  ///   - foreign: the parts with a key of another type in the place of the index.
  private func loss(
    _ parts: [Int: RedisPartTables], unlisted: [Int: Int], foreign: Set<Int>
  ) -> IntegrityIssue? {
    var (missing, isUnknown) = (0, false)
    for part in Set(parts.keys).union(unlisted.keys).union(foreign) {
      let (tables, found) = (parts[part] ?? RedisPartTables(), unlisted[part] ?? 0)
      let known = tables.lines.count + found
      missing += max(0, (tables.counted ?? 0) - known)
      // A tally that counts less was begun anew, and says nothing of what an index has lost.
      if found > 0 || foreign.contains(part) { isUnknown = isUnknown || (tables.counted ?? -1) < known }
    }
    if missing > 0 {
      let entries = missing == 1 ? "1 entry" : "\(missing) entries"
      return IntegrityIssue(
        kind: .structure, message: "the tally counted \(entries) more than were found: were they evicted")
    }
    return isUnknown
      ? IntegrityIssue(kind: .structure, message: "index and tally were lost: nothing says how many entries there were")
      : nil
  }

  enum Mending {
    case whole, gone
    case lost(IntegrityIssue)
  }

  /// Removes the entry under `key` if it is unreadable or unsound, and rewrites `line`, its line in the index, if that
  /// disagrees with it. With `listing`, it adds a line for an entry that has none.
  func mend(
    _ key: CacheKey, _ line: RedisLine?, _ plan: RepairPlan, listing: Bool = false
  ) throws(CacheError) -> Mending {
    do throws(CacheError) {
      guard let entry = try entry(key) else { return .gone }
      let metadata = entry.metadata
      let payload = entry.withPayload { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
      guard plan.isSound(key, payload.span, metadata) else { return try remove(key, ifStill: metadata.checksum) }
      let slot = EntryTally.Slot(namespace: key.namespace, metadata)
      let isWrong = line.map { slot != $0.slot || payload.count != $0.bytes } ?? listing
      if isWrong { try put(key, payload, metadata) }
      return .whole
    } catch {
      guard error.code == .damaged else { throw error }
      // A key that was never listed may belong to another program.
      if listing { return .gone }
      let listed = try list(KeyRange(prefix: key.text), limit: 1).first?.summary
      guard let listed, listed.key == key else { return .gone }
      return try remove(key, ifStill: listed.metadata.checksum)
    }
  }

  /// Removes an entry, unless another process has replaced it.
  func remove(_ key: CacheKey, ifStill checksum: UInt64) throws(CacheError) -> Mending {
    var batch = WriteBatch()
    batch.require(key, .checksum(checksum))
    batch.remove(key)
    let isRemoved = try tryToApply(batch)
    return isRemoved
      ? .lost(IntegrityIssue(key: key, kind: .undecodable, message: "entry \(key): it is not what was written"))
      : .whole
  }

  private func put(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(CacheError) {
    var batch = WriteBatch()
    batch.require(key, .checksum(metadata.checksum))
    batch.put(key, payload: payload, metadata: metadata)
    _ = try tryToApply(batch)
  }

  /// Makes the changes of `batch`; returns `false` if another process has changed the entry meanwhile.
  private func tryToApply(_ batch: WriteBatch) throws(CacheError) -> Bool {
    do throws(CacheError) {
      try apply(try RedisBatch(batch))
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }

  /// Counts the lines of `parts` anew, and returns what their tables held.
  private func recount(_ parts: some Sequence<Int>) throws(CacheError) -> [Int: RedisPartTables] {
    var open = Array(parts)
    var tables: [Int: RedisPartTables] = [:]
    for _ in 0..<Self.attempts where !open.isEmpty {
      let tallies = try tallies(of: open)
      for part in open { tables[part] = tallies[part] }
      try examine(open) { part, values in
        if values.count == 4, let line = values[0].text.flatMap({ RedisLine($0) }) {
          tables[part, default: RedisPartTables()].lines.append(line)
        }
      }
      // What has neither entries nor a tally needs none.
      let wanted = open.filter { tables[$0] != nil }
      let replies = try router.perform(wanted.map { rebuilding($0, tables[$0] ?? RedisPartTables()) })
      open = zip(wanted, replies).filter { $1.value.integer != 1 }.map(\.0)
    }
    guard open.isEmpty else {
      throw CacheError(
        .busy, "\(options): others change the store all the time, so that it cannot be counted",
        hint: "stop them, or try again when less is going on")
    }
    return tables
  }

  private func rebuilding(_ part: Int, _ tables: RedisPartTables) -> RedisRequest {
    var counts: [String: EntryTally.Count] = [:]
    for line in tables.lines {
      for field in [line.field, RedisTally.field(line.key.namespace), RedisTally.total] {
        counts[field] = (counts[field] ?? .init()) + EntryTally.Count(entries: 1, payloadBytes: line.bytes)
      }
    }
    let fields = counts.flatMap { [$0.key, "\($0.value.entries) \($0.value.payloadBytes)"] }
    return RedisRequest(
      part, .rebuild, keys: layout.tables(of: part), arguments: ([tables.changes] + fields).map { Array($0.utf8) },
      isChange: true)
  }

  /// What the tallies of those of `parts` say that have one, without lines.
  private func tallies(of parts: [Int]) throws(CacheError) -> [Int: RedisPartTables] {
    do throws(CacheError) {
      let replies = try router.perform(
        parts.map { RedisRequest($0, RedisCommand("HMGET", layout.tables(of: $0)[1], "changes", "format", "*")) })
      var tallies: [Int: RedisPartTables] = [:]
      for (part, reply) in zip(parts, replies) {
        let values = reply.value.elements ?? []
        if values.contains(where: { !$0.isNil }) {
          let total = values.last.map { $0.isNil ? "0 0" : $0.text ?? "" } ?? ""
          tallies[part] = RedisPartTables(
            changes: values.first?.text ?? "", counted: RedisTally.count(total)?.entries)
        }
      }
      return tallies
    } catch {
      guard error.code == .damaged else { throw error }
      guard parts.count > 1 else { return [parts[0]: RedisPartTables()] }
      // A tally of another type fails the whole call, and the error does not name it.
      let half = parts.count / 2
      return try tallies(of: Array(parts[..<half])).merging(tallies(of: Array(parts[half...]))) { $1 }
    }
  }
}

/// What the tables of a part said before they were made anew.
private struct RedisPartTables {
  /// The number of changes, as stored; empty if the tally is unreadable or lost.
  var changes = ""
  /// How many entries the tally counted; `nil` if it is unreadable or lost.
  var counted: Int?
  /// The lines of the index.
  var lines: [RedisLine] = []
}

extension IntegrityIssue {
  fileprivate static var foreignIndex: IntegrityIssue {
    IntegrityIssue(kind: .structure, message: "a key of another type stands in the place of the index")
  }
}
