internal import StorageSPI

extension RedisStore {
  /// How often to recount the tally and totals if others write meanwhile.
  private static let attempts = 20

  /// Removes the entries that are unreadable or that `plan` finds unsound, rewrites the index lines that disagree with
  /// their entries, forgets those whose entries are gone, and counts the rest.
  ///
  /// Each step leaves the store consistent, and others can keep using it. Cost: every entry is read.
  func repair(_ plan: RepairPlan) throws(CacheError) -> RepairReport {
    var (saved, lost) = (0, [IntegrityIssue]())
    for part in layout.parts {
      // First, because what follows subtracts from the tally, which must be readable for that.
      try rebuild(part)
      var lines: [RedisLine] = []
      try examine(part) { values in
        if values.count == 9, let line = values[6].text.flatMap({ RedisLine($0) }) { lines.append(line) }
      }
      for line in lines {
        switch try mend(line, plan) {
        case .whole: saved += 1
        case .gone: continue
        case .lost(let issue): lost.append(issue)
        }
      }
      try tidy(part)
      try rebuild(part)
    }
    return RepairReport(saved: saved, lost: lost)
  }

  private enum Mending {
    case whole, gone
    case lost(IntegrityIssue)
  }

  private func mend(_ line: RedisLine, _ plan: RepairPlan) throws(CacheError) -> Mending {
    do throws(CacheError) {
      guard let (value, metadata) = try entry(line.key) else { return .gone }
      let payload = value.withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
      guard plan.isSound(line.key, payload.span, metadata) else {
        return try remove(line.key, ifStill: metadata.checksum)
      }
      let slot = EntryTally.Slot(namespace: line.key.namespace, metadata)
      if slot != line.slot || payload.count != line.bytes { try put(line.key, payload, metadata) }
      return .whole
    } catch {
      guard error.code == .damaged else { throw error }
      let listed = try list(KeyRange(prefix: line.key.text), limit: 1).first?.summary
      guard let listed, listed.key == line.key else { return .gone }
      return try remove(line.key, ifStill: listed.metadata.checksum)
    }
  }

  /// Removes a damaged entry, unless another process has replaced it.
  private func remove(_ key: CacheKey, ifStill checksum: UInt64) throws(CacheError) -> Mending {
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

  /// Recounts the index lines of `part`.
  private func rebuild(_ part: Int) throws(CacheError) {
    for _ in 0..<Self.attempts {
      let changes = try changes(of: part)
      var counts: (tally: [String: EntryTally.Count], totals: [String: EntryTally.Count]) = ([:], [:])
      try examine(part) { values in
        guard values.count == 9, let line = values[6].text.flatMap({ RedisLine($0) }) else { return }
        let count = EntryTally.Count(entries: 1, payloadBytes: line.bytes)
        let (namespace, slot) = (line.key.namespace, line.slot)
        let field = "\(namespace) \(slot.freshSlot) \(slot.retainSlot)"
        counts.tally[field] = (counts.tally[field] ?? .init()) + count
        counts.totals[namespace] = (counts.totals[namespace] ?? .init()) + count
      }
      let fields = [counts.tally, counts.totals].flatMap { table in
        table.flatMap { [$0.key, "\($0.value.entries) \($0.value.payloadBytes)"] }
      }
      let arguments = ([changes, String(counts.tally.count)] + fields).map { Array($0.utf8) }
      let request = RedisRequest(
        part, .rebuild, keys: layout.tables(of: part), arguments: arguments, isChange: true)
      if try router.perform(request).integer == 1 { return }
    }
    throw CacheError(
      .busy, "\(options): others change the store all the time, so that it cannot be counted",
      hint: "stop them, or try again when less is going on")
  }

  /// The number of changes to `part`, as stored; empty if it is unreadable.
  private func changes(of part: Int) throws(CacheError) -> String {
    do throws(CacheError) {
      return try router.perform(RedisRequest(part, RedisCommand("HGET", layout.tables(of: part)[2], "changes"))).text
        ?? ""
    } catch {
      guard error.code == .damaged else { throw error }
      return ""
    }
  }
}
