internal import StorageSPI

/// The tables of a part before they are mended.
struct RedisPartTables {
  /// The number of changes, as stored; empty if the tally is unreadable or lost.
  let changes: String
  /// The version that wrote the tally; `nil` if that is unreadable or lost.
  let format: Int64?
  /// What the tally counts, by field; `nil` if it is unreadable or lost, or of another version.
  let counts: [String: EntryTally.Count]?
  /// The lines of the index, until they have been looked at.
  var lines: [RedisLine] = []
  /// Whether the index lacked lines, or was a key of another type.
  var lacksLines = false
  /// How many entries, with a line or without, end after the present slot of time.
  private var lasting = 0

  /// The tables of a part without a tally, or with one that is no hash.
  init() { (changes, format, counts) = ("", nil, nil) }

  /// - Parameter tally: the fields and values of the tally.
  init(tally: RedisValue) {
    changes = RedisTally.value("changes", in: tally)?.text ?? ""
    format = RedisTally.value("format", in: tally)?.number
    counts = format == Int64(RedisLayout.format) ? RedisTally.counts(tally) : nil
  }

  /// Adds a line of the index; `slot` is the present one.
  mutating func add(_ line: RedisLine, after slot: Int64) {
    lines.append(line)
    if line.endSlot > slot { lasting += 1 }
  }

  /// Adds an entry that no index names.
  mutating func addUnlisted(_ entry: EntrySummary, after slot: Int64) {
    lacksLines = true
    if EntryTally.Slot(namespace: "", entry.metadata).retainSlot > slot { lasting += 1 }
  }

  /// How many entries more the tally counts than there are, of those that end after `slot`: others may be gone, and counted
  /// until the slot is over. `nil` if it does not say what the index has lost: it is lost, or was begun anew.
  fileprivate func missing(after slot: Int64) -> Int? {
    guard let counts else { return lacksLines ? nil : 0 }
    let slots = counts.compactMap { field, count in RedisTally.endSlot(field).map { (end: $0, entries: count.entries) }
    }
    let all = max(slots.reduce(0) { $0 + $1.entries }, counts[RedisTally.total]?.entries ?? 0)
    let missing = slots.reduce(all) { $0 - ($1.end <= slot ? $1.entries : 0) } - lasting
    return missing < 0 && lacksLines ? nil : max(0, missing)
  }
}

extension IntegrityIssue {
  /// What may have been lost with lines of indexes, which alone name the entries; `nil` if it is certain that nothing was.
  init?(lossOf parts: some Sequence<RedisPartTables>, after slot: Int64) {
    let numbers = parts.map { $0.missing(after: slot) }
    let missing = numbers.reduce(0) { $0 + ($1 ?? 0) }
    if missing > 0 {
      let (entries, they) = missing == 1 ? ("entry", "it") : ("entries", "they")
      self.init(
        kind: .structure,
        message: "the tally counted \(missing) \(entries) more than the store has; \(they) may have been evicted, "
          + "or replaced after the index was lost")
    } else if numbers.contains(nil) {
      self.init(kind: .structure, message: "the index lost entries, and the tally does not say how many there were")
    } else {
      return nil
    }
  }
}
