internal import StorageSPI

extension RedisStore {
  /// Checks every entry, and compares the tally and totals with them. Cost: a round trip for each 500 entries.
  ///
  /// If others write all the time, the tally cannot be compared; then it checks only the entries.
  func examine() throws(CacheError) -> [IntegrityIssue] {
    for _ in 0..<3 {
      guard let before = try countIfReadable() else { return try lookAtAll().issues + [.unreadableTally] }
      let examination = try lookAtAll()
      guard let after = try countIfReadable() else { return examination.issues + [.unreadableTally] }
      if before.changes == after.changes { return examination.issues + examination.differences(from: after) }
    }
    return try lookAtAll().issues
  }

  /// `nil` if the tally is unreadable.
  private func countIfReadable() throws(CacheError) -> RedisCount? {
    do throws(CacheError) {
      return try count()
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  private func lookAtAll() throws(CacheError) -> RedisExamination {
    var examination = RedisExamination()
    for part in layout.parts { try examine(part) { examination.look(at: $0) } }
    return examination
  }

  /// Passes each index line of `part` to `look`, in the form that the script `examine` returns.
  func examine(_ part: Int, _ look: ([RedisValue]) throws(CacheError) -> Void) throws(CacheError) {
    var from = "-"
    while true {
      let arguments = [from, "500"].map { Array($0.utf8) }
      let request = RedisRequest(part, .examine, keys: layout.tables(of: part), arguments: arguments)
      guard let lines = try router.perform(request).elements else { throw router.undecodable("a check gives no list") }
      for line in lines { try look(line.elements ?? []) }
      guard lines.count == 500, let last = lines.last?.elements?[6].text else { return }
      from = "(\(last)"
    }
  }
}

extension IntegrityIssue {
  fileprivate static var unreadableTally: IntegrityIssue {
    IntegrityIssue(kind: .structure, message: "the tally or the totals cannot be read")
  }
}

/// The findings of an examination so far.
struct RedisExamination {
  private(set) var issues: [IntegrityIssue] = []
  private var tally = EntryTally()
  private var totals: [String: EntryTally.Count] = [:]

  /// Checks an index line and its entry, in the form that the script `examine` returns.
  mutating func look(at values: [RedisValue]) {
    guard values.count == 9, let line = values[6].text, let line = RedisLine(line), let size = values[7].integer else {
      issues.append(IntegrityIssue(kind: .structure, message: "the index has a line that is none"))
      return
    }
    tally.add(line.slot, payloadBytes: line.bytes)
    totals[line.key.namespace] =
      (totals[line.key.namespace] ?? EntryTally.Count()) + EntryTally.Count(entries: 1, payloadBytes: line.bytes)
    if values.prefix(6).allSatisfy(\.isNil) {
      guard values[8].integer == 0 else { return }  // Dropped, and not yet forgotten.
      add(line.key, .structure, "the index has it, but it is gone: was it evicted for want of memory")
    } else if let metadata = RedisEntry.metadata(values) {
      if size != line.bytes || EntryTally.Slot(namespace: line.key.namespace, metadata) != line.slot {
        add(line.key, .structure, "the index says something else of it than what is there")
      }
    } else {
      add(line.key, .undecodable, "its fields are not what was written")
    }
  }

  private mutating func add(_ key: CacheKey, _ kind: IntegrityIssue.Kind, _ message: String) {
    issues.append(IntegrityIssue(key: key, kind: kind, message: "entry \(key): \(message)"))
  }

  /// The differences from the server's own counts.
  func differences(from counted: RedisCount) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    if counted.tally != tally {
      issues.append(IntegrityIssue(kind: .structure, message: "the tally counts other entries than the index has"))
    }
    let empty = EntryTally.Count()
    let namespaces = Set(totals.keys).union(counted.totals.keys).sorted()
    for namespace in namespaces where totals[namespace] ?? empty != counted.totals[namespace] ?? empty {
      issues.append(
        IntegrityIssue(
          kind: .structure, message: "the totals count other entries of \(namespace) than the index has"))
    }
    return issues
  }
}

/// A line of the index.
struct RedisLine {
  let key: CacheKey
  let slot: EntryTally.Slot
  let bytes: Int

  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 4, let key = try? CacheKey(String(words[0])), let bytes = Int(words[3]),
      let slot = RedisTally.slot("\(key.namespace) \(words[1]) \(words[2])")
    else { return nil }
    (self.key, self.slot, self.bytes) = (key, slot, bytes)
  }
}
