internal import StorageSPI

/// The tables of a part as the repair found them.
struct RedisPartTables {
  /// The number of changes, as stored; empty if the tally is lost or unreadable.
  let changes: String
  /// The layout version in the tally; `nil` if it is missing or unreadable.
  let format: Int64?
  /// The counts in the tally, by field; `nil` if the tally is lost, unreadable or of another version.
  let counts: [String: EntryTally.Count]?
  /// The lines of the index that the repair has not looked at yet.
  var lines: [RedisLine] = []
  /// Whether the index lacked lines, or had the wrong type.
  var lacksLines = false
  /// The number of entries, listed or not, that end after the current slot of time.
  private var lasting = 0

  /// The tables of a part whose tally is missing or is not a hash.
  init() { (changes, format, counts) = ("", nil, nil) }

  /// - Parameter tally: the fields and values of the tally.
  init(tally: RedisValue) {
    changes = RedisTally.value("changes", in: tally)?.text ?? ""
    format = RedisTally.value("format", in: tally)?.number
    counts = format == Int64(RedisLayout.format) ? RedisTally.counts(tally) : nil
  }

  /// Adds a line of the index. `slot` is the current slot of time.
  mutating func add(_ line: RedisLine, after slot: Int64) {
    lines.append(line)
    if line.endSlot > slot { lasting += 1 }
  }

  /// Adds an entry that is missing from the index.
  mutating func addUnlisted(_ entry: EntrySummary, after slot: Int64) {
    lacksLines = true
    if EntryTally.Slot(namespace: "", entry.metadata).retainSlot > slot { lasting += 1 }
  }

  /// How many more entries the tally counts than the store has. Entries that end by the end of `slot` are left out, because
  /// the tally may go on counting them after the server has dropped them. `nil` if the index has lost lines and the tally
  /// cannot tell how many: it is lost too, or a write has started a new one.
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
  /// The entries that may have been lost along with their index lines; `nil` if it is certain that none were.
  init?(lossOf parts: some Sequence<RedisPartTables>, after slot: Int64) {
    let numbers = parts.map { $0.missing(after: slot) }
    let missing = numbers.reduce(0) { $0 + ($1 ?? 0) }
    if missing > 0 {
      let (entries, they) = missing == 1 ? ("entry", "it") : ("entries", "they")
      self.init(
        kind: .structure,
        message: "the tally counted \(missing) more \(entries) than the store has; \(they) may have been evicted, "
          + "or replaced after the index was lost")
    } else if numbers.contains(nil) {
      self.init(kind: .structure, message: "the index has lost lines, and the tally cannot tell how many")
    } else {
      return nil
    }
  }
}
