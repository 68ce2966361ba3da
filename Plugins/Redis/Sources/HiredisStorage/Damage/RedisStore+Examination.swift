internal import StorageSPI

extension RedisStore {
  /// Checks every entry, compares the tally and totals with them, and looks for entries that are missing from the index.
  /// Cost: a round trip for each 500 entries of a part, and two for each 1,000 keys of any kind on a server.
  ///
  /// If others write all the time, the tally cannot be compared; then it checks only the entries.
  func examine() throws(CacheError) -> [IntegrityIssue] {
    guard layout.isIndexed else { return try examineUnindexed() }
    let issues = try examineListed()
    let count = try unlisted().count
    if count == 0 { return issues }
    let entries = count == 1 ? "1 entry that is" : "\(count) entries that are"
    return issues + [IntegrityIssue(kind: .structure, message: "the index lacks \(entries) on the server")]
  }

  /// Makes the same check, but does not look for entries that are missing from the index.
  private func examineListed() throws(CacheError) -> [IntegrityIssue] {
    for _ in 0..<3 {
      do throws(CacheError) {
        let before = try count().changes
        let examination = try lookAtAll()
        let after = try count()
        if before == after.changes { return examination.issues + examination.differences(from: after) }
      } catch {
        guard error.code == .damaged else { throw error }
        // The tally cannot be read. If the index cannot be read either, this throws.
        return try lookAtAll().issues + [IntegrityIssue(kind: .structure, message: error.message)]
      }
    }
    return try lookAtAll().issues
  }

  private func lookAtAll() throws(CacheError) -> RedisExamination {
    var examination = RedisExamination()
    try walk(.examine, size: Self.linesAtOnce) { value throws(CacheError) in
      guard let lines = value.elements else { throw router.undecodable("a check gives no list") }
      for line in lines { examination.look(at: line.elements ?? []) }
      guard lines.count == Self.linesAtOnce, let last = lines.last?.elements?.first else { return nil }
      guard let line = last.text else { throw router.undecodable("the index has a line that is no text") }
      return "(\(line)"
    }
    return examination
  }

  private static let linesAtOnce = 500

  /// The keys of sound entries that are missing from the index. Other keys are skipped: they may belong to another program.
  ///
  /// Cost: two round trips for each 1,000 keys of any kind on a server.
  private func unlisted() throws(CacheError) -> Set<CacheKey> {
    var found = Set<CacheKey>()
    for group in router.topology.groups {
      try eachPage(in: group) { keys throws(CacheError) in
        found.formUnion(try unlisted(keys))
        return true
      }
    }
    return found
  }

  /// The sound entries under `keys` that are missing from the index.
  private func unlisted(_ keys: [CacheKey]) throws(CacheError) -> [CacheKey] {
    if keys.isEmpty { return [] }
    let places = Dictionary(grouping: keys) { layout.part(of: $0) }
    let replies = try router.performOnNodes(Array(places.keys)) { group in
      let pairs = group.parts.flatMap { part in
        (places[part] ?? []).flatMap { [layout.base(of: part), $0.text] }
      }
      return RedisRequest(
        group.parts[0], .unlisted, keys: [],
        arguments: ([String(RedisEntry.usualLength)] + pairs).map { Array($0.utf8) })
    }
    var found: [CacheKey] = []
    for (parts, reply) in replies {
      let keys = parts.flatMap { places[$0] ?? [] }
      guard let ends = reply.value.elements, ends.count == keys.count else {
        throw router.undecodable("a check gives no list")
      }
      for (key, end) in zip(keys, ends) {
        if let entry = RedisListing(key, end), !entry.isDamaged { found.append(key) }
      }
    }
    return found
  }
}

/// The findings of an examination so far.
struct RedisExamination {
  private(set) var issues: [IntegrityIssue] = []
  private var tally = SlotTally()

  /// Checks an index line and its entry, in the form that the script `examine` returns.
  mutating func look(at values: [RedisValue]) {
    guard values.count == 4, let line = values[0].text.flatMap({ RedisLine($0) }), let size = values[2].integer else {
      issues.append(IntegrityIssue(kind: .structure, message: "the index has an invalid line"))
      return
    }
    let one = SlotTally.Count(entries: 1, payloadBytes: line.bytes)
    tally.add(one, to: line.slot)
    if values[1].isNil {
      if values[3].integer == 1 {
        // Dropped, and not yet forgotten. Whether it is still counted depends on its slot.
        mayBeCounted.add(one, to: line.slot)
      } else {
        add(line.key, .structure, "the index has it, but it is gone; the server may have evicted it")
      }
    } else if size >= 0, let metadata = values[1].withBytes({ RedisEntry.metadata(endOf: $0) }) {
      if size != line.bytes || SlotTally.Slot(namespace: line.key.namespace, metadata) != line.slot {
        add(line.key, .structure, "the index says something else of it than what is there")
      }
    } else {
      add(line.key, .undecodable, "it is not what was written")
    }
  }

  private mutating func add(_ key: CacheKey, _ kind: IntegrityIssue.Kind, _ message: String) {
    issues.append(IntegrityIssue(key: key, kind: kind, message: "entry \(key): \(message)"))
  }

  /// Entries that have ended.
  private var mayBeCounted = SlotTally()

  /// The differences from the server's own counts.
  func differences(from counted: RedisCount) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    if !agrees(counted.tally) {
      issues.append(IntegrityIssue(kind: .structure, message: "the tally does not agree with the index"))
    }
    let totals = counted.tally.namespaces
    for namespace in Set(totals.keys).union(counted.namespaces.keys).sorted()
    where totals[namespace] ?? .init() != counted.namespaces[namespace] ?? .init() {
      issues.append(
        IntegrityIssue(kind: .structure, message: "the tally contradicts itself about \(namespace)"))
    }
    if let format = counted.format, format != Int64(RedisLayout.format) {
      issues.append(IntegrityIssue(kind: .structure, message: "the tally names another version of the layout"))
    }
    if counted.total != counted.namespaces.values.reduce(.init(), +) {
      issues.append(IntegrityIssue(kind: .structure, message: "the tally contradicts itself about all entries"))
    }
    return issues
  }

  /// Whether `counted` has each entry that has not ended, and no others but those.
  private func agrees(_ counted: SlotTally) -> Bool {
    Set(tally.slots.keys).union(counted.slots.keys).allSatisfy { slot in
      let (here, there) = (tally.slots[slot]?.entries ?? 0, counted.slots[slot]?.entries ?? 0)
      return (here - (mayBeCounted.slots[slot]?.entries ?? 0)...here).contains(there)
        && (mayBeCounted.slots[slot] != nil || tally.slots[slot] == counted.slots[slot])
    }
  }
}
