import CacheCore
import EngineConformance
import EngineAPI

/// What a store with limits must hold, told in the plainest way: everything is sorted anew each time.
struct BoundsModel {
  struct Entry: Equatable {
    var bytes: Int
    var storedAt: Int64
    var retainUntil: Int64
  }

  struct Use: Equatable {
    var last: Int64 = 0
    var count = 0
  }

  enum Outcome: String { case stored, tooLarge, overBounds, conflict }

  var limits: StoreLimits
  var now: Int64
  /// The entries, without leases.
  var entries: [String: Entry] = [:]
  var leases: [String: Entry] = [:]
  /// What was stored last under each key and neither removed nor replaced since, whether or not it had to go.
  private(set) var stored: [String: Entry] = [:]
  var evictions = 0
  /// What the log knows, and what each handle has not yet told it.
  private var logged: [String: Use] = [:]
  private var pending: [[String: Use]]

  init(limits: StoreLimits, now: Int64, handles: Int) {
    self.limits = limits
    self.now = now
    pending = Array(repeating: [:], count: handles)
  }

  func isExpired(_ entry: Entry) -> Bool { now >= entry.retainUntil }

  mutating func remove(_ key: String) {
    (entries[key], stored[key]) = (nil, nil)
  }

  mutating func use(_ key: String, by handle: Int) {
    pending[handle][key, default: Use()].count += 1
    pending[handle][key, default: Use()].last = max(pending[handle][key]?.last ?? 0, now)
  }

  mutating func flush(_ handle: Int) {
    for (key, use) in pending[handle] { logged[key] = sum(logged[key], use) }
    pending[handle] = [:]
  }

  private func sum(_ left: Use?, _ right: Use?) -> Use {
    Use(
      last: max(left?.last ?? 0, right?.last ?? 0), count: (left?.count ?? 0) + (right?.count ?? 0))
  }

  /// Stores `entry` and removes the entries `replaced`, by the handle `handle`.
  mutating func put(_ key: String, _ entry: Entry, replacing replaced: [String], by handle: Int) -> Outcome {
    guard entry.bytes <= limits.maxBytes else { return .tooLarge }
    var next = entries
    for other in replaced { next[other] = nil }
    next[key] = entry
    var order = victims(next.filter { $0.key != key }, by: handle)[...]
    var evicted = 0
    while next.count > limits.maxEntries || next.values.reduce(0, { $0 + $1.bytes }) > limits.maxBytes {
      guard let victim = order.popFirst() else { return .overBounds }
      if !isExpired(entries[victim] ?? entry) { evicted += 1 }
      next[victim] = nil
    }
    entries = next
    stored[key] = entry
    for other in replaced { stored[other] = nil }
    evictions += evicted
    return .stored
  }

  /// The keys in the order in which they go.
  private func victims(_ entries: [String: Entry], by handle: Int) -> [String] {
    let expired = entries.filter { isExpired($0.value) }
      .sorted { ($0.value.retainUntil, $0.value.storedAt, $0.key) < ($1.value.retainUntil, $1.value.storedAt, $1.key) }
    let living = entries.filter { !isExpired($0.value) }.map { key, entry in
      let use = sum(logged[key], pending[handle][key])
      return (
        key: key, stored: entry.storedAt, used: max(use.last, entry.storedAt), count: use.count, bytes: entry.bytes
      )
    }
    let ordered =
      switch limits.eviction.name {
      case "lru": living.sorted { ($0.used, $0.stored, $0.key) < ($1.used, $1.stored, $1.key) }
      case "lfu":
        living.sorted { ($0.count, $0.used, $0.stored, $0.key) < ($1.count, $1.used, $1.stored, $1.key) }
      case "fifo": living.sorted { ($0.stored, $0.key) < ($1.stored, $1.key) }
      case "s3-fifo": firstInFirstOut(living, among: entries)
      case "size": sizeAdjusted(living)
      default: [Living]()
      }
    return expired.map(\.key) + ordered.map(\.key)
  }

  private typealias Living = (key: String, stored: Int64, used: Int64, count: Int, bytes: Int)

  /// The largest product of size and age first.
  private func sizeAdjusted(_ living: [Living]) -> [Living] {
    func cost(_ entry: Living) -> Int64 { -(max(0, now - entry.used) + 1) * Int64(max(1, entry.bytes)) }
    return living.sorted { (cost($0), $0.used, $0.stored, $0.key) < (cost($1), $1.used, $1.stored, $1.key) }
  }

  /// What was never used, but for the newest fifth of `entries`; what was used; then the newest.
  private func firstInFirstOut(_ living: [Living], among entries: [String: Entry]) -> [Living] {
    let stored = entries.values.map(\.storedAt).sorted(by: >)
    let newest = stored.isEmpty ? 0 : stored[max(1, stored.count / 5) - 1]
    let unused = living.filter { $0.count == 0 }.sorted { ($0.stored, $0.key) < ($1.stored, $1.key) }
    let used = living.filter { $0.count > 0 }.sorted { ($0.used, $0.stored, $0.key) < ($1.used, $1.stored, $1.key) }
    return unused.filter { $0.stored < newest } + used + unused.filter { $0.stored >= newest }
  }
}
