internal import StorageSPI

extension RedisStore {
  /// How often to recount the tally and totals if others write meanwhile.
  private static let attempts = 20

  /// Removes the entries that are unreadable or that `plan` finds unsound, then makes the index agree with the rest: it
  /// corrects wrong lines, adds missing ones, and drops those whose entries are gone. Finally it recounts the tally.
  ///
  /// Each step leaves the store consistent, and others can keep using it. A repair that fails hides no loss from the next
  /// one. Cost: a check, then every entry is read, and the servers look at all their keys.
  /// - Throws: `CacheError`: `unsupportedFormat` if the store is one of another version or engine; `damaged` if a key of
  ///   another type is in the place of an index and there are no entries, so that another program may need it.
  func repair(_ plan: RepairPlan) throws(CacheError) -> RepairReport {
    try checkOwnership()
    guard layout.isIndexed else { return try repairUnindexed(plan) }
    try upgrade()
    let foreign = try removeForeignIndexes()
    let issues = try examineListed()
    var (saved, lost, mended) = (0, [IntegrityIssue](), issues.filter { $0.key == nil })
    if !foreign.isEmpty { mended.append(.foreignIndex) }
    var findings: [CacheKey: IntegrityIssue] = [:]
    for issue in issues { if let key = issue.key { findings[key] = issue } }
    let current = try currentSlot()
    var tables = try survey(current)
    for part in tables.keys.sorted() {
      for line in tables[part]?.lines ?? [] {
        let finding = findings.removeValue(forKey: line.key)
        switch try mend(line.key, line, plan) {
        case .whole:
          saved += 1
          if let finding { mended.append(finding) }
        case .gone: if let finding { lost.append(finding) }
        case .lost(let issue): lost.append(issue)
        }
      }
      tables[part]?.lines = []
    }
    // Their lines have been forgotten since.
    lost += findings.values
    var unlisted = 0
    try eachUnlisted { entry throws(CacheError) in
      switch try mend(entry.key, nil, plan) {
      case .whole:
        guard try list(entry) else { return }
        saved += 1
      case .gone: return
      case .lost(let issue): lost.append(issue)
      }
      unlisted += 1
      tables[layout.part(of: entry.key), default: RedisPartTables()].unlisted += 1
      if entry.metadata.endSlot > current { tables[layout.part(of: entry.key)]?.lasting += 1 }
    }
    if unlisted > 0 { mended.append(.unlisted(unlisted)) }
    let loss = IntegrityIssue(
      lossOf: Set(tables.keys).union(foreign).map { part in
        let table = tables[part] ?? RedisPartTables()
        let lacksLines = table.unlisted > 0 || foreign.contains(part)
        return (counted: table.counted(after: current), lasting: table.lasting, lacksLines)
      })
    do throws(CacheError) {
      try recount(layout.parts)
      try tidyAll(layout.parts)
    } catch {
      // The next repair finds the lines, and cannot know of it.
      guard let loss else { throw error }
      throw CacheError(error.code, "\(error.message); \(loss.message)", hint: error.hint, cause: error.cause)
    }
    lost = lost.sorted { $0.message < $1.message } + [loss].compactMap(\.self)
    return RepairReport(saved: saved, lost: lost, mended: mended)
  }

  /// Removes keys of other types in the places of indexes, and returns the parts that had one.
  private func removeForeignIndexes() throws(CacheError) -> Set<Int> {
    let tables = layout.parts.flatMap { part in layout.tables(of: part).map { (part: part, name: $0) } }
    let types = try router.perform(tables.map { RedisRequest($0.part, RedisCommand("TYPE", $0.name)) })
    let foreign = zip(tables, types).filter { table, type in
      ![table.name.hasSuffix("index") ? "zset" : "hash", "none"].contains(type.value.text)
    }.map(\.0)
    if foreign.isEmpty { return [] }
    guard try hasUnlistedEntries() else {
      let error = CacheError.foreignTable(store: options.description)
      throw CacheError(
        error.code, "\(error.message), and there are no entries to save",
        hint: "if that program needs the key, give another prefix; otherwise remove it")
    }
    let indexes = foreign.filter { $0.name.hasSuffix("index") }
    if indexes.isEmpty { return [] }
    _ = try router.perform(indexes.map { RedisRequest($0.part, RedisCommand("UNLINK", $0.name)) })
    return Set(indexes.map(\.part))
  }

  /// What the tables of all parts hold, each at one moment. Tallies that are lost or unreadable are made anew, because what
  /// follows subtracts from them; the others only at the end.
  private func survey(_ current: Int64) throws(CacheError) -> [Int: RedisPartTables] {
    var (tables, open) = ([Int: RedisPartTables](), Array(layout.parts))
    for _ in 0..<Self.attempts where !open.isEmpty {
      let before = try tallies(of: open)
      for part in open { tables[part] = before[part] }
      try eachLine(of: open) { part, line in
        guard let line else { return }
        tables[part, default: RedisPartTables()].lines.append(line)
        if line.endSlot > current { tables[part]?.lasting += 1 }
      }
      let readable = before.keys.filter { before[$0]?.counts != nil }
      let after = try tallies(of: readable)
      open = readable.filter { after[$0]?.changes != before[$0]?.changes }
    }
    guard open.isEmpty else { throw busy }
    try recount(tables.filter { $1.counts == nil }.keys)
    return tables
  }

  /// Gives an entry its line back, and returns whether it is still there and had none. The tally stays as it is: it may count
  /// the entry already, and is counted anew at the end.
  private func list(_ entry: EntrySummary) throws(CacheError) -> Bool {
    let part = layout.part(of: entry.key)
    let line = RedisLine(entry).text
    let checksum = WriteBatch.Expectation.checksum(entry.metadata.checksum).bytes
    let request = RedisRequest(
      part, .relist, keys: layout.tables(of: part),
      arguments: [Array(entry.key.text.utf8), Array(line.utf8), checksum], isChange: true)
    return try router.perform(request).integer == 1
  }

  enum Mending {
    case whole, gone
    case lost(IntegrityIssue)
  }

  /// Removes the entry under `key` if it is unreadable or unsound, and rewrites `line`, its line in the index, if that
  /// disagrees with it.
  func mend(_ key: CacheKey, _ line: RedisLine?, _ plan: RepairPlan) throws(CacheError) -> Mending {
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
      // What was never listed may belong to another program.
      if line == nil, layout.isIndexed { return .gone }
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

  /// Passes the lines of `parts` to `body`; `nil` for what is none.
  private func eachLine(of parts: some Sequence<Int>, _ body: (Int, RedisLine?) -> Void) throws(CacheError) {
    try examine(parts) { part, values in body(part, values.first?.text.flatMap { RedisLine($0) }) }
  }

  /// The present slot of time, by the servers' clock.
  private func currentSlot() throws(CacheError) -> Int64 {
    guard let seconds = try router.perform(RedisRequest(0, RedisCommand("TIME"))).elements?.first?.number else {
      throw router.undecodable("the server's clock gives no time")
    }
    return (seconds * 1_000) >> EntryTally.slotBits
  }

  /// What the tallies of those of `parts` say that have one.
  func tallies(of parts: [Int]) throws(CacheError) -> [Int: RedisPartTables] {
    do throws(CacheError) {
      let replies = try router.perform(
        parts.map { RedisRequest($0, RedisCommand("HGETALL", layout.tables(of: $0)[1])) })
      var tallies: [Int: RedisPartTables] = [:]
      for (part, reply) in zip(parts, replies) where reply.value.elements?.isEmpty == false {
        let format = RedisTally.value("format", in: reply.value)?.number
        tallies[part] = RedisPartTables(
          changes: RedisTally.value("changes", in: reply.value)?.text ?? "", format: format,
          counts: format == Int64(RedisLayout.format) ? RedisTally.counts(reply.value) : nil)
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

/// The tables of a part before they are mended.
struct RedisPartTables {
  /// The number of changes, as stored; empty if the tally is unreadable or lost.
  var changes = ""
  /// The version that wrote the tally; `nil` if that is unreadable or lost.
  var format: Int64?
  /// What the tally counts, by field; `nil` if it is unreadable or lost.
  var counts: [String: EntryTally.Count]?
  /// The lines of the index.
  var lines: [RedisLine] = []
  /// How many entries have no line.
  var unlisted = 0
  /// How many entries, with a line or without, end after the present slot of time.
  var lasting = 0

  /// How many entries the tally counts that end after `slot`; `nil` if it is unreadable or lost. Those that end before
  /// may be gone, and counted until the slot is over.
  func counted(after slot: Int64) -> Int? {
    guard let counts else { return nil }
    let slots = counts.compactMap { field, count in RedisTally.endSlot(field).map { (end: $0, count.entries) } }
    let (all, over) = (slots.reduce(0) { $0 + $1.1 }, slots.filter { $0.end <= slot }.reduce(0) { $0 + $1.1 })
    return max(all, counts[RedisTally.total]?.entries ?? 0) - over
  }
}

extension IntegrityIssue {
  fileprivate static var foreignIndex: IntegrityIssue {
    IntegrityIssue(kind: .structure, message: "a key of another type is in the place of the index")
  }

  /// What may have been lost with lines of the index, which alone name an entry; `nil` if it is certain that nothing was.
  ///
  /// - Parameter parts: of each part, how many lasting entries its tally counted, if it is readable, how many there are,
  ///   and whether the index lacked lines.
  fileprivate init?(lossOf parts: [(counted: Int?, lasting: Int, lacksLines: Bool)]) {
    let missing = parts.reduce(0) { $0 + max(0, ($1.counted ?? 0) - $1.lasting) }
    if missing > 0 {
      let (entries, they) = missing == 1 ? ("entry", "it") : ("entries", "they")
      self.init(
        kind: .structure,
        message: "the tally counted \(missing) \(entries) more than the store has; \(they) may have been evicted, "
          + "or replaced after the index was lost")
    } else if parts.contains(where: { $0.lacksLines && ($0.counted ?? -1) < $0.lasting }) {
      // A tally that counts less was begun anew.
      self.init(kind: .structure, message: "the index lost entries, and the tally does not say how many there were")
    } else {
      return nil
    }
  }
}
