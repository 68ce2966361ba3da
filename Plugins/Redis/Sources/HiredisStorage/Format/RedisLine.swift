internal import StorageSPI

/// Counts entries and payload bytes by slot. A slot has the entries of one namespace that become stale within the same 2^20
/// milliseconds (17.5 minutes) and expire within the same 2^20 milliseconds. So the scripts can leave out what the server
/// has dropped, without looking at entries.
struct SlotTally: Sendable {
  struct Slot: Sendable, Hashable {
    let namespace: String
    /// `freshUntil` in milliseconds, divided by the width of a slot and rounded down.
    let freshSlot: Int64
    /// `retainUntil`, likewise.
    let retainSlot: Int64
  }

  /// A number of entries and the sum of their payload sizes. In a difference, both may be negative.
  struct Count: Sendable, Hashable {
    var entries = 0
    var payloadBytes = 0

    static func + (left: Count, right: Count) -> Count {
      Count(entries: left.entries + right.entries, payloadBytes: left.payloadBytes + right.payloadBytes)
    }

    static func - (left: Count, right: Count) -> Count {
      Count(entries: left.entries - right.entries, payloadBytes: left.payloadBytes - right.payloadBytes)
    }
  }

  private(set) var slots: [Slot: Count] = [:]

  /// The counts by namespace.
  var namespaces: [String: Count] {
    slots.reduce(into: [:]) {
      $0[$1.key.namespace, default: Count()] = $0[$1.key.namespace, default: Count()] + $1.value
    }
  }

  var total: Count { slots.values.reduce(Count(), +) }

  mutating func add(_ count: Count, to slot: Slot) {
    let sum = (slots[slot] ?? Count()) + count
    slots[slot] = sum == Count() ? nil : sum
  }

  /// The time at which a slot begins.
  static func start(of slot: Int64) -> Timestamp {
    Timestamp(milliseconds: min(max(slot, 0), Timestamp.distantFuture.milliseconds >> 20) << 20)
  }
}

extension SlotTally.Slot {
  /// The slot of an entry in `namespace` with the times of `metadata`.
  init(namespace: String, _ metadata: EntryMetadata) {
    self.init(
      namespace: namespace, freshSlot: metadata.freshUntil.milliseconds >> 20,
      retainSlot: metadata.retainUntil.milliseconds >> 20)
  }
}

/// A line of the index: the entry's key, then in hexadecimal digits the slots of `freshUntil` and `retainUntil` (see
/// `SlotTally`) and the size of the payload. If the server keeps an entry beyond its end, the slot of the later end
/// follows.
///
/// Lines sort by key, because a space is less than every character of a key.
struct RedisLine: Sendable {
  let text: String
  let key: CacheKey
  let slot: SlotTally.Slot
  let bytes: Int

  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard (4...5).contains(words.count), let key = try? CacheKey(String(words[0])) else { return nil }
    let numbers = words.dropFirst().compactMap { Int64($0, radix: 16) }
    guard numbers.count == words.count - 1, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
    (self.text, self.key, bytes) = (text, key, Int(numbers[2]))
    slot = SlotTally.Slot(namespace: key.namespace, freshSlot: numbers[0], retainSlot: numbers[1])
  }
}

/// Decodes the tally: a hash that counts entries and bytes by namespace and slots, by namespace, and all together.
///
/// The field of a namespace ends with a slash. Other fields are the version of the layout, the number of changes, the
/// slot before which nothing is counted any more, the last end of an entry, and the latest batch of each writer, whose
/// names begin with "@".
enum RedisTally {
  /// The field that counts all entries.
  static let total = "*"

  /// The field that counts the entries of `namespace`.
  static func field(_ namespace: some StringProtocol) -> String { "\(namespace)/" }

  /// The namespace whose entries `field` counts; `nil` if it counts others.
  static func namespace(_ field: String) -> String? {
    let name = field.dropLast()
    return field.last == "/" && CacheKey.isNamespace(name) ? String(name) : nil
  }

  private static let others: Set<String> = ["format", "changes", "swept", "ends"]

  /// The counts in the fields and values `hash`; `nil` if these are not a tally's.
  static func counts(_ hash: RedisValue) -> [String: SlotTally.Count]? {
    guard let values = hash.elements, values.count.isMultiple(of: 2) else { return nil }
    var counts: [String: SlotTally.Count] = [:]
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let field = values[index].text, let value = values[index + 1].text else { return nil }
      if others.contains(field) || field.hasPrefix("@") { continue }
      guard let count = count(value) else { return nil }
      counts[field] = count
    }
    return counts
  }

  /// The count in the value of a field; `nil` if it is none.
  static func count(_ value: String) -> SlotTally.Count? {
    let numbers = value.split(separator: " ").compactMap { Int($0) }
    return numbers.count == 2 ? SlotTally.Count(entries: numbers[0], payloadBytes: numbers[1]) : nil
  }

  /// The slot that a field such as "cities 19b771 3bb2cc" names; `nil` if it names none.
  static func slot(_ field: String) -> SlotTally.Slot? {
    let words = field.split(separator: " ")
    guard (3...4).contains(words.count), CacheKey.isNamespace(words[0]), let fresh = Int64(words[1], radix: 16),
      let retain = Int64(words[2], radix: 16)
    else { return nil }
    return SlotTally.Slot(namespace: String(words[0]), freshSlot: fresh, retainSlot: retain)
  }
}
