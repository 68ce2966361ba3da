internal import StorageSPI

extension RedisStore {
  /// How often to recount the tally and totals if others write meanwhile.
  private static let attempts = 20

  /// Removes the entries that are unreadable or that `plan` finds unsound, then makes the index agree with the rest: it
  /// corrects wrong lines, adds missing ones, and drops those whose entries are gone. Finally it recounts the tally.
  ///
  /// Each step leaves the store consistent, and others can keep using it. Cost: every entry is read, and the servers look
  /// at all their keys.
  func repair(_ plan: RepairPlan) throws(CacheError) -> RepairReport {
    guard layout.isIndexed else { return try repairUnindexed(plan) }
    try upgrade()
    try removeForeignIndexes()
    // First, because what follows subtracts from the tally, which must be readable for that.
    let lines = try recount(layout.parts)
    var (saved, lost) = (0, [IntegrityIssue]())
    for part in lines.keys.sorted() {
      for line in lines[part] ?? [] {
        switch try mend(line.key, line, plan) {
        case .whole: saved += 1
        case .gone: continue
        case .lost(let issue): lost.append(issue)
        }
      }
    }
    try eachUnlisted(Set(lines.values.joined().map(\.key))) { key throws(CacheError) in
      switch try mend(key, nil, plan, listing: true) {
      case .whole: saved += 1
      case .gone: return
      case .lost(let issue): lost.append(issue)
      }
    }
    try tidyAll(layout.parts)
    _ = try recount(layout.parts)
    return RepairReport(saved: saved, lost: lost)
  }

  /// Removes keys of other types in the places of indexes.
  private func removeForeignIndexes() throws(CacheError) {
    let indexes = layout.parts.map { (part: $0, name: layout.tables(of: $0)[0]) }
    let types = try router.perform(indexes.map { RedisRequest($0.part, RedisCommand("TYPE", $0.name)) })
    let foreign = zip(indexes, types).filter { !["zset", "none"].contains($1.value.text) }.map(\.0)
    if !foreign.isEmpty {
      _ = try router.perform(foreign.map { RedisRequest($0.part, RedisCommand("UNLINK", $0.name)) })
    }
  }

  /// Passes the keys of entries that are not among `listed` to `body`: their lines were lost.
  private func eachUnlisted(
    _ listed: Set<CacheKey>, _ body: (CacheKey) throws(CacheError) -> Void
  ) throws(CacheError) {
    for group in router.topology.groups {
      var unlisted = Set<CacheKey>()
      try eachPage(in: group) { keys in
        unlisted.formUnion(keys.lazy.filter { !listed.contains($0) })
        return true
      }
      for key in unlisted.sorted() { try body(key) }
    }
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

  /// Counts the lines of `parts` anew, and returns them.
  private func recount(_ parts: some Sequence<Int>) throws(CacheError) -> [Int: [RedisLine]] {
    var open = Array(parts)
    var lines: [Int: [RedisLine]] = [:]
    for _ in 0..<Self.attempts where !open.isEmpty {
      let changes = try changes(of: open)
      for part in open { lines[part] = nil }
      try examine(open) { part, values in
        if values.count == 4, let line = values[0].text.flatMap({ RedisLine($0) }) {
          lines[part, default: []].append(line)
        }
      }
      // What has neither entries nor a tally needs none.
      let wanted = open.filter { lines[$0] != nil || changes[$0] != nil }
      let replies = try router.perform(wanted.map { rebuilding($0, changes[$0] ?? "", lines[$0] ?? []) })
      open = zip(wanted, replies).filter { $1.value.integer != 1 }.map(\.0)
    }
    guard open.isEmpty else {
      throw CacheError(
        .busy, "\(options): others change the store all the time, so that it cannot be counted",
        hint: "stop them, or try again when less is going on")
    }
    return lines
  }

  private func rebuilding(_ part: Int, _ changes: String, _ lines: [RedisLine]) -> RedisRequest {
    var counts: [String: EntryTally.Count] = [:]
    for line in lines {
      for field in [line.field, RedisTally.field(line.key.namespace), RedisTally.total] {
        counts[field] = (counts[field] ?? .init()) + EntryTally.Count(entries: 1, payloadBytes: line.bytes)
      }
    }
    let fields = counts.flatMap { [$0.key, "\($0.value.entries) \($0.value.payloadBytes)"] }
    return RedisRequest(
      part, .rebuild, keys: layout.tables(of: part), arguments: ([changes] + fields).map { Array($0.utf8) },
      isChange: true)
  }

  /// The number of changes to each of `parts` that has a tally, as stored; empty if it is unreadable.
  private func changes(of parts: [Int]) throws(CacheError) -> [Int: String] {
    func ask(_ parts: [Int]) throws(CacheError) -> [Int: String] {
      let replies = try router.perform(
        parts.map { RedisRequest($0, RedisCommand("HMGET", layout.tables(of: $0)[1], "changes", "format")) })
      var changes: [Int: String] = [:]
      for (part, reply) in zip(parts, replies) {
        let values = reply.value.elements ?? []
        if values.contains(where: { !$0.isNil }) { changes[part] = values.first?.text ?? "" }
      }
      return changes
    }
    do throws(CacheError) {
      return try ask(parts)
    } catch {
      guard error.code == .damaged else { throw error }
      guard parts.count > 1 else { return [parts[0]: ""] }
      // A tally of another type fails the whole call, and the error does not name it.
      let half = parts.count / 2
      return try changes(of: Array(parts[..<half])).merging(changes(of: Array(parts[half...]))) { $1 }
    }
  }
}
