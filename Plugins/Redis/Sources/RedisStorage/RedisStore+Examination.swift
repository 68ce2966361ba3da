internal import StorageSPI

extension RedisStore {
  /// Looks at every entry, and whether the tally is theirs. Cost: a round trip for each 500 entries.
  ///
  /// Where others write all the time the tally cannot be compared; then only the entries are checked.
  func examine() throws(StorageError) -> [IntegrityIssue] {
    for _ in 0..<3 {
      let before = try count()
      var examination = Examination()
      for part in layout.parts { try examine(part, &examination) }
      let after = try count()
      guard before.changes == after.changes else { continue }
      return examination.issues + examination.differences(from: after.tally)
    }
    var examination = Examination()
    for part in layout.parts { try examine(part, &examination) }
    return examination.issues
  }

  private func examine(_ part: Int, _ examination: inout Examination) throws(StorageError) {
    var from = "-"
    while true {
      let arguments = [from, "500"].map { Array($0.utf8) }
      let request = RedisRequest(part, .examine, keys: layout.tables(of: part), arguments: arguments)
      guard let lines = try router.perform(request).elements else { throw router.undecodable("a check gives no list") }
      for line in lines { examination.look(at: line.elements ?? []) }
      guard lines.count == 500, let last = lines.last?.elements?[6].text else { return }
      from = "(\(last)"
    }
  }
}

/// What an examination has found so far.
private struct Examination {
  private(set) var issues: [IntegrityIssue] = []
  private var tally = EntryTally()

  /// Looks at a line of the index and its entry, as the script `examine` gives them.
  mutating func look(at values: [RedisValue]) {
    guard values.count == 9, let line = values[6].text, let line = Line(line), let size = values[7].integer else {
      issues.append(IntegrityIssue(kind: .structure, message: "the index has a line that is none"))
      return
    }
    tally.add(line.slot, payloadBytes: line.bytes)
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

  /// What is wrong with `counted`, the tally that the server has.
  func differences(from counted: EntryTally) -> [IntegrityIssue] {
    if counted == tally { return [] }
    return [IntegrityIssue(kind: .structure, message: "the tally counts other entries than there are")]
  }
}

/// A line of the index.
private struct Line {
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
