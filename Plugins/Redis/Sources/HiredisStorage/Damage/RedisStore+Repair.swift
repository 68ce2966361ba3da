internal import StorageSPI

extension RedisStore {
  /// How often to recount the tally and totals if others write meanwhile.
  private static let attempts = 20

  /// Removes the entries that are unreadable or that `plan` finds unsound, then makes the index agree with the rest: it
  /// corrects wrong lines, adds missing ones, and drops those whose entries are gone. Finally it recounts the tally.
  ///
  /// Others can use the store meanwhile. If a repair fails, the next one still finds what was lost, or the error says it.
  /// Cost: a check; then every entry is read, and the servers look at all their keys.
  /// - Throws: `CacheError`: `unsupportedFormat` if a later version or another engine wrote the store; `damaged` if another
  ///   program's key is in the place of the index or the tally and there are no entries to save.
  func repair(_ plan: RepairPlan) throws(CacheError) -> RepairReport {
    try checkOwnership()
    guard layout.isIndexed else { return try repairUnindexed(plan) }
    try upgrade()
    let foreign = try removeForeignIndexes()
    var findings = RedisFindings(try examineListed())
    if !foreign.isEmpty { findings.noteForeignIndex() }
    let current = try currentSlot()
    var tables = try survey(current)
    for part in tables.keys.sorted() {
      for line in tables[part]?.lines ?? [] { findings.note(try mend(line.key, line, plan), of: line.key) }
      tables[part]?.lines = []
    }
    try eachUnlisted { entry throws(CacheError) in
      let mending = try mend(entry.key, nil, plan)
      switch mending {
      // Another process has listed or removed it meanwhile.
      case .whole: if try !relist(entry) { return }
      case .gone: return
      case .lost: break
      }
      findings.noteUnlisted(mending, of: entry.key)
      tables[layout.part(of: entry.key), default: RedisPartTables()].addUnlisted(entry, after: current)
    }
    for part in foreign { tables[part, default: RedisPartTables()].lacksLines = true }
    let loss = IntegrityIssue(lossOf: tables.values, after: current)
    do throws(CacheError) {
      try recount(layout.parts)
      try tidyAll(layout.parts)
    } catch {
      // The lines are back, so the next repair would not notice the loss.
      guard let loss else { throw error }
      throw CacheError(error.code, "\(error.message); \(loss.message)", hint: error.hint, cause: error.cause)
    }
    return findings.report(loss)
  }

  /// Removes keys of the wrong type from the places of indexes, and returns the parts that had one.
  private func removeForeignIndexes() throws(CacheError) -> Set<Int> {
    let tables = layout.parts.flatMap { part in
      zip(layout.tables(of: part), ["zset", "hash"]).map { (part: part, name: $0, type: $1) }
    }
    let types = try router.perform(tables.map { RedisRequest($0.part, RedisCommand("TYPE", $0.name)) })
    let foreign = zip(tables, types).filter { ![$0.type, "none"].contains($1.value.text) }.map(\.0)
    if foreign.isEmpty { return [] }
    guard try hasEntries() else {
      let error = CacheError.foreignTable(store: options.description)
      throw CacheError(
        error.code, "\(error.message), and there are no entries to save",
        hint: "if that program needs the key, give another prefix; otherwise remove it")
    }
    let indexes = foreign.filter { $0.type == "zset" }
    if indexes.isEmpty { return [] }
    _ = try router.perform(indexes.map { RedisRequest($0.part, RedisCommand("UNLINK", $0.name)) })
    return Set(indexes.map(\.part))
  }

  /// Reads the tables of all parts, each part as it is at one moment. It rebuilds tallies that are lost or unreadable,
  /// because the following steps subtract from them. The others are rebuilt at the end.
  private func survey(_ current: Int64) throws(CacheError) -> [Int: RedisPartTables] {
    var (tables, open) = ([Int: RedisPartTables](), Array(layout.parts))
    for _ in 0..<Self.attempts where !open.isEmpty {
      let before = try tallies(of: open)
      for part in open { tables[part] = before[part] }
      try eachLine(of: open) { part, line in
        guard let line else { return }
        tables[part, default: RedisPartTables()].add(line, after: current)
      }
      let readable = before.keys.filter { before[$0]?.counts != nil }
      let after = try tallies(of: readable)
      open = readable.filter { after[$0]?.changes != before[$0]?.changes }
    }
    guard open.isEmpty else { throw busy }
    try recount(tables.filter { $1.counts == nil }.keys)
    return tables
  }

  /// Adds the missing line of an entry, and returns whether it did: not if the entry has changed or has a line by now. The
  /// tally stays as it is, because it may count the entry already.
  private func relist(_ entry: EntrySummary) throws(CacheError) -> Bool {
    let part = layout.part(of: entry.key)
    let line = RedisLine(entry).text
    let checksum = WriteBatch.Expectation.checksum(entry.metadata.checksum).bytes
    let request = RedisRequest(
      part, .relist, keys: layout.tables(of: part),
      arguments: [Array(entry.key.text.utf8), Array(line.utf8), checksum], isChange: true)
    return try router.perform(request).integer == 1
  }

  /// Removes the entry under `key` if it is unreadable or unsound, and rewrites `line`, its line in the index, if that
  /// disagrees with it.
  func mend(_ key: CacheKey, _ line: RedisLine?, _ plan: RepairPlan) throws(CacheError) -> RedisFindings.Mending {
    do throws(CacheError) {
      guard let entry = try entry(key) else { return .gone }
      let metadata = entry.metadata
      let payload = entry.withPayload { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
      guard plan.isSound(key, payload.span, metadata) else { return try remove(key, ifStill: metadata.checksum) }
      let slot = EntryTally.Slot(namespace: key.namespace, metadata)
      if let line, slot != line.slot || payload.count != line.bytes { try put(key, payload, metadata) }
      return .whole
    } catch {
      guard error.code == .damaged else { throw error }
      // An unlisted key may belong to another program.
      if line == nil, layout.isIndexed { return .gone }
      let listed = try list(KeyRange(prefix: key.text), limit: 1).first?.summary
      guard let listed, listed.key == key else { return .gone }
      return try remove(key, ifStill: listed.metadata.checksum)
    }
  }

  /// Removes an entry, unless another process has replaced it.
  func remove(_ key: CacheKey, ifStill checksum: UInt64) throws(CacheError) -> RedisFindings.Mending {
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

  /// Counts the lines of `parts` anew.
  private func recount(_ parts: some Sequence<Int>) throws(CacheError) {
    var open = Array(parts)
    for _ in 0..<Self.attempts where !open.isEmpty {
      let tallies = try tallies(of: open)
      var sums: [Int: [String: EntryTally.Count]] = [:]
      try eachLine(of: open) { part, line in
        if sums[part] == nil { sums[part] = [:] }
        guard let line else { return }
        for field in [line.field, RedisTally.field(line.key.namespace), RedisTally.total] {
          let sum = sums[part, default: [:]][field] ?? EntryTally.Count()
          sums[part, default: [:]][field] = sum + EntryTally.Count(entries: 1, payloadBytes: line.bytes)
        }
      }
      // What has neither entries nor a tally needs none.
      let wanted = open.filter { sums[$0] != nil || tallies[$0] != nil }
      let replies = try router.perform(wanted.map { rebuilding($0, tallies[$0]?.changes ?? "", sums[$0] ?? [:]) })
      open = zip(wanted, replies).filter { $1.value.integer != 1 }.map(\.0)
    }
    guard open.isEmpty else { throw busy }
  }

  private var busy: CacheError {
    CacheError(
      .busy, "\(options): others change the store all the time, so that it cannot be counted",
      hint: "stop them, or try again when less is going on")
  }

  private func rebuilding(_ part: Int, _ changes: String, _ sums: [String: EntryTally.Count]) -> RedisRequest {
    let fields = sums.flatMap { [$0.key, "\($0.value.entries) \($0.value.payloadBytes)"] }
    return RedisRequest(
      part, .rebuild, keys: layout.tables(of: part), arguments: ([changes] + fields).map { Array($0.utf8) },
      isChange: true)
  }

  /// Passes each line of `parts` to `body`; `nil` for an invalid one.
  private func eachLine(of parts: some Sequence<Int>, _ body: (Int, RedisLine?) -> Void) throws(CacheError) {
    try examine(parts) { part, values in body(part, values.first?.text.flatMap { RedisLine($0) }) }
  }

  /// The current slot of time, by the server's clock.
  private func currentSlot() throws(CacheError) -> Int64 {
    guard let seconds = try router.perform(RedisRequest(0, RedisCommand("TIME"))).elements?.first?.number else {
      throw router.undecodable("the server's clock gives no time")
    }
    return (seconds * 1_000) >> EntryTally.slotBits
  }

  /// The tallies of `parts`, without those that have none.
  func tallies(of parts: [Int]) throws(CacheError) -> [Int: RedisPartTables] {
    do throws(CacheError) {
      let replies = try router.perform(
        parts.map { RedisRequest($0, RedisCommand("HGETALL", layout.tables(of: $0)[1])) })
      var tallies: [Int: RedisPartTables] = [:]
      for (part, reply) in zip(parts, replies) where reply.value.elements?.isEmpty == false {
        tallies[part] = RedisPartTables(tally: reply.value)
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
