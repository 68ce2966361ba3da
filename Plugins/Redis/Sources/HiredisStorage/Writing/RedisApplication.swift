internal import StorageSPI

/// Applies a batch to one part of a store: the request, and the meaning of its answer.
struct RedisApplication: Sendable {
  enum Mode: Sendable {
    /// Reports how applying would end, and changes nothing.
    case check(exempt: String?)
    /// Makes the changes, unless this part and `others` together would exceed the bounds, and too little can be evicted.
    case apply(StoreBounds?, others: EntryTally.Count, evicting: RedisEviction? = nil)
  }

  enum Outcome {
    case done
    case conflict(CacheKey)
    case over
  }

  /// The outcome.
  struct Verdict {
    let outcome: Outcome
    /// What the part holds, or would hold, outside the exempt namespace. Only known if there are bounds.
    let holds: EntryTally.Count
    /// Whether expired entries are still counted.
    let isStale: Bool
    /// How many unexpired entries were evicted.
    let evictions: Int
  }

  let part: Int
  let batch: RedisBatch
  let mode: Mode
  /// The name under which the server remembers the batch: if it is sent again, it must not undo what others have done
  /// since. Empty if it changes nothing.
  let name: String
  /// The name of an earlier batch that was answered, which the server may forget.
  let formerName: String?
  /// The name under which the changes are published; empty if they are not.
  let publisher: String

  init(_ batch: RedisBatch, part: Int, _ mode: Mode, replacing formerName: String? = nil, publisher: String = "") {
    (self.part, self.batch, self.mode, self.formerName) = (part, batch, mode, formerName)
    self.publisher = publisher
    if case .apply = mode { name = Self.randomName() } else { name = "" }
  }

  /// A unique name for a batch.
  private static func randomName() -> String {
    String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
  }

  /// The request to the server, the same for each attempt.
  func request(_ options: RedisOptions) -> RedisRequest {
    let layout = options.layout
    var (keys, arguments) = (layout.tables(of: part), [[UInt8]]())
    var (puts, removals) = ([[UInt8]](), [String]())
    var (required, put) = ([String](), [String]())
    for (key, expectation) in batch.requirements {
      required.append(layout.name(of: key, in: part))
      arguments.append(Array(expectation.text.utf8))
    }
    for (key, change) in batch.changes {
      switch change {
      case .remove: removals.append(layout.name(of: key, in: part))
      case .put(let payload, let metadata):
        put.append(layout.name(of: key, in: part))
        puts.append(payload)
        puts += RedisEntry.values(metadata)
      }
    }
    keys += required + put + removals
    let counts = [required.count, put.count, removals.count].map { String($0) }
    let head = header(options) + counts + [formerName ?? ""] + (eviction?.arguments ?? ["", "", ""]) + [publisher]
    return RedisRequest(
      part, .apply, keys: keys, arguments: head.map { Array($0.utf8) } + arguments + puts, isChange: isChange)
  }

  private var isChange: Bool {
    if case .apply = mode { true } else { false }
  }

  private var eviction: RedisEviction? {
    if case .apply(_, _, let eviction) = mode { eviction } else { nil }
  }

  private func header(_ options: RedisOptions) -> [String] {
    // Longer than the batch is retried.
    let remembered = String(max(60_000, 2 * options.timeout.components.seconds * 1_000))
    switch mode {
    case .check(let exempt): return ["check", name, remembered, "", "", exempt ?? "", "0", "0"]
    case .apply(let bounds, let others, _):
      let limits = bounds.map { [String($0.maxEntries), String($0.maxPayloadBytes), $0.exemptNamespace ?? ""] }
      return ["apply", name, remembered] + (limits ?? ["", "", ""]) + [
        String(others.entries), String(others.payloadBytes),
      ]
    }
  }

  /// The meaning of `answer`; `nil` if it is not one of the script's answers.
  func verdict(_ answer: RedisValue) -> Verdict? {
    guard let values = answer.elements, values.count == 5, let first = values[1].number.map({ Int($0) }),
      let second = values[2].number, let isStale = values[3].number, let evictions = values[4].number
    else { return nil }
    let holds = EntryTally.Count(entries: first, payloadBytes: Int(second))
    switch values[0].text {
    case "done": return Verdict(outcome: .done, holds: holds, isStale: isStale == 1, evictions: Int(evictions))
    case "over": return Verdict(outcome: .over, holds: holds, isStale: isStale == 1, evictions: 0)
    case "conflict" where batch.requirements.indices.contains(first - 1):
      return Verdict(
        outcome: .conflict(batch.requirements[first - 1].key), holds: EntryTally.Count(), isStale: false, evictions: 0)
    default: return nil
    }
  }
}

/// What a batch may evict to make room.
struct RedisEviction: Sendable {
  let order: EvictionOrder
  /// The time by the engine's clock.
  let now: Timestamp

  /// The order, the time, and the latest time that is not ahead of it, as the script expects them.
  fileprivate var arguments: [String] {
    [order.text, String(now.milliseconds), String(now.advanced(by: Timestamp.clockTolerance).milliseconds)]
  }
}

extension WriteBatch.Expectation {
  /// The checksum that the script expects; empty if it expects no entry.
  fileprivate var text: String {
    switch self {
    case .absent: ""
    case .checksum(let checksum): Hexadecimal.text(checksum)
    }
  }
}
