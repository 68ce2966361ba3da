import EngineAPI
import EngineConformance
import FetchVocabulary
import Foundation
import TestStorage
import Testing
@testable import CacheCore

/// How much is tried: `BOUNDS_ROUNDS` times the histories, from the seed `BOUNDS_SEED`; if that is set, with each pair of an
/// engine and a policy.
enum Effort {
  static let rounds = number("BOUNDS_ROUNDS")
  static let seed = UInt64(number("BOUNDS_SEED"))

  /// The pairs of an engine and one of `policies`. The core chooses the evictions in the same way for every engine. So
  /// one engine is tested with all policies, and each other engine with one.
  static func pairs(_ policies: [EvictionPolicy]) -> [(TestedEngine, EvictionPolicy)] {
    TestedEngine.all.enumerated().flatMap { index, engine in
      let chosen = index == 0 || rounds > 1 ? policies : [policies[index % policies.count]]
      return chosen.map { (engine, $0) }
    }
  }

  private static func number(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max($0, 1) } ?? 1
  }
}

struct BoundsHistoryTests {
  private static let steps = 250

  @Test(arguments: Effort.pairs(EvictionPolicy.standard))
  func afterEveryStepTheStoreEqualsTheModel(engine: TestedEngine, policy: EvictionPolicy) async throws {
    for round in 0..<Effort.rounds {
      for (sweeps, shift) in [(false, UInt64(0)), (true, 1 << 32)] {
        let seed = Effort.seed + UInt64(round) + shift
        var history = try await History(engine, policy, seed: seed, sweeps: sweeps)
        try await history.run(steps: Self.steps)
      }
    }
  }
}

/// A history made from a seed, on a store and on the model at once.
struct History {
  let seed: UInt64
  /// Whether writes remove expired entries; then the clock never goes back.
  let sweeps: Bool
  private let scratch: Scratch
  private let engines: [any StorageEngine]
  private var stores: [EntryStore] = []
  private var model: BoundsModel
  private var generator: SeededGenerator
  private var evictionsOfOldStores = 0

  init(_ engine: TestedEngine, _ policy: EvictionPolicy, seed: UInt64, sweeps: Bool) async throws {
    self.seed = seed
    self.sweeps = sweeps
    scratch = try Scratch(engine)
    engines = try await scratch.open(3)
    generator = SeededGenerator(seed: seed)
    let limits = StoreLimits(
      maxEntries: Int.random(in: 1...12, using: &generator), maxBytes: Int.random(in: 1...600, using: &generator),
      eviction: policy)
    model = BoundsModel(limits: limits, now: scratch.clock.now.milliseconds, handles: engines.count)
    openStores()
  }

  private mutating func openStores() {
    evictionsOfOldStores += stores.reduce(0) { $0 + $1.uses.counts.evictions }
    stores = engines.map { engine in
      EntryStore(
        engine: engine, clock: scratch.clock, limits: model.limits, uses: scratch.uses,
        capabilities: sweeps ? [.ordered, .bounded] : [.ordered, .bounded, .expiring])
    }
  }

  mutating func run(steps: Int) async throws {
    for step in 0..<steps {
      let what = try await self.step()
      try await check("seed \(seed), step \(step): \(what)")
    }
    for engine in engines { try await engine.close() }
  }

  private mutating func step() async throws -> String {
    let handle = Int.random(in: 0..<stores.count, using: &generator)
    switch Int.random(in: 0..<100, using: &generator) {
    case ..<55: return try await put(handle)
    case ..<75: return try await read(handle)
    case ..<80: return try await remove(handle)
    case ..<84: return try await putLease(handle)
    case ..<92: return moveClock()
    case ..<97: return try await flush(handle)
    default: return try await changeLimits()
    }
  }

  private mutating func put(_ handle: Int) async throws -> String {
    let key = try key()
    let size = Int.random(in: 0...[10, 100, 300, 700][Int.random(in: 0..<4, using: &generator)], using: &generator)
    let entry = BoundsModel.Entry(
      bytes: size, storedAt: model.now - Int64.random(in: 0...3, using: &generator),
      retainUntil: model.now + Int64.random(in: -5...60, using: &generator))
    let replaced = Int.random(in: 0..<5, using: &generator) == 0 ? try self.key() : nil
    let others = replaced.map { $0 == key ? [] : [$0] } ?? []
    var batch = WriteBatch()
    for other in others { batch.remove(other) }
    let code = await errorCode {
      try await stores[handle].write(
        key, payload: [UInt8](repeating: 1, count: size), metadata: metadata(entry), with: batch)
    }
    let expected = model.put(key.text, entry, replacing: others.map(\.text), by: handle)
    #expect(code?.rawValue ?? "stored" == expected.rawValue, "seed \(seed): \(key), \(size) bytes, \(model.limits)")
    return "put \(key) of \(size) bytes by \(handle): \(expected)"
  }

  private mutating func read(_ handle: Int) async throws -> String {
    let key = try key()
    let isThere = try await stores[handle].read(key) { _, _ in true } != nil
    stores[handle].countLookUp(isThere ? key : nil)
    let entry = model.entries[key.text]
    #expect(isThere == entry.map { !model.isExpired($0) } ?? false, "seed \(seed): \(key)")
    if isThere { model.use(key.text, by: handle) }
    return "read \(key) by \(handle)"
  }

  private mutating func remove(_ handle: Int) async throws -> String {
    let key = try key()
    try await engines[handle].remove(key)
    model.remove(key.text)
    return "remove \(key)"
  }

  /// The namespace of leases does not count, and is never evicted.
  private mutating func putLease(_ handle: Int) async throws -> String {
    let key = try CacheKey("leases/v1/\(Int.random(in: 0..<4, using: &generator))")
    let entry = BoundsModel.Entry(bytes: 0, storedAt: model.now, retainUntil: model.now + 5)
    try await engines[handle].put(key, [], metadata(entry))
    model.leases[key.text] = entry
    return "put \(key)"
  }

  private mutating func moveClock() -> String {
    model.now += Int64.random(in: (sweeps ? 0 : -20)...30, using: &generator)
    scratch.clock.set(Timestamp(milliseconds: model.now))
    return "the clock shows \(model.now)"
  }

  private mutating func flush(_ handle: Int) async throws -> String {
    try await stores[handle].uses.write()
    model.flush(handle)
    return "flush \(handle)"
  }

  private mutating func changeLimits() async throws -> String {
    for handle in stores.indices { _ = try await flush(handle) }
    model.limits = StoreLimits(
      maxEntries: Int.random(in: 1...12, using: &generator), maxBytes: Int.random(in: 1...600, using: &generator),
      eviction: model.limits.eviction)
    openStores()
    return "limits \(model.limits)"
  }

  private mutating func key() throws -> CacheKey {
    let namespace = ["cities", "movies", "url"][Int.random(in: 0..<3, using: &generator)]
    return try CacheKey("\(namespace)/v1/\(Int.random(in: 0..<9, using: &generator))")
  }

  private func metadata(_ entry: BoundsModel.Entry) -> EntryMetadata {
    let retainUntil = Timestamp(milliseconds: entry.retainUntil)
    return EntryMetadata(storedAt: Timestamp(milliseconds: entry.storedAt), until: retainUntil)
  }

  private func isExpired(_ entry: BoundsModel.Entry) -> Bool { model.isExpired(entry) }

  /// Compares the store, as one of the handles sees it, with the model.
  private mutating func check(_ context: String) async throws {
    let engine = engines[Int.random(in: 0..<engines.count, using: &generator)]
    let found = try await allEntries(engine)
    let held = Dictionary(uniqueKeysWithValues: found.map { ($0.key.text, BoundsModel.Entry($0)) })
    let (living, expired) = (held.filter { !isExpired($0.value) }, held.filter { isExpired($0.value) })
    #expect(living == model.all.filter { !isExpired($0.value) }, "\(context)")
    if sweeps {
      // Which of the expired ones are still there is not for the model to say.
      #expect(expired.allSatisfy { model.stored[$0.key] == $0.value || model.leases[$0.key] == $0.value }, "\(context)")
      #expect(model.leases.keys.allSatisfy { held[$0] != nil }, "\(context)")
      model.entries = held.filter { !$0.key.hasPrefix("leases/") }
    } else {
      #expect(expired == model.all.filter { isExpired($0.value) }, "\(context)")
    }
    let total = try await engine.count().total(except: "leases")
    #expect(total.entries == model.entries.count, "\(context)")
    #expect(total.payloadBytes == model.entries.values.reduce(0) { $0 + $1.bytes }, "\(context)")
    let evictions = stores.reduce(evictionsOfOldStores) { $0 + $1.uses.counts.evictions }
    #expect(evictions == model.evictions, "\(context)")
  }
}

extension BoundsModel {
  /// All entries, and the leases.
  var all: [String: Entry] { entries.merging(leases) { $1 } }
}

extension BoundsModel.Entry {
  init(_ summary: ScannedEntry) {
    self.init(
      bytes: summary.payloadBytes, storedAt: summary.metadata.storedAt.milliseconds,
      retainUntil: summary.metadata.retainUntil.milliseconds)
  }
}

/// The simplest model of a store with limits: it sorts all entries each time.
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
  /// The last entry stored under each key, unless it was removed or replaced; evicted entries are included.
  private(set) var stored: [String: Entry] = [:]
  var evictions = 0
  /// The uses in the log, and the uses of each handle that are not in it yet.
  private var logged: [String: Use] = [:]
  private var pending: [[String: Use]]

  init(limits: StoreLimits, now: Int64, handles: Int) {
    self.limits = limits
    self.now = now
    pending = Array(repeating: [:], count: handles)
  }

  func isExpired(_ entry: Entry) -> Bool { now >= entry.retainUntil }

  mutating func remove(_ key: String) { (entries[key], stored[key]) = (nil, nil) }

  mutating func use(_ key: String, by handle: Int) {
    pending[handle][key, default: Use()].count += 1
    pending[handle][key, default: Use()].last = max(pending[handle][key]?.last ?? 0, now)
  }

  mutating func flush(_ handle: Int) {
    for (key, use) in pending[handle] { logged[key] = sum(logged[key], use) }
    pending[handle] = [:]
  }

  private func sum(_ left: Use?, _ right: Use?) -> Use {
    Use(last: max(left?.last ?? 0, right?.last ?? 0), count: (left?.count ?? 0) + (right?.count ?? 0))
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
      case "lfu": living.sorted { ($0.count, $0.used, $0.stored, $0.key) < ($1.count, $1.used, $1.stored, $1.key) }
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

  /// The entries that were never used, except the newest fifth of `entries`; then the entries that were used; then the
  /// newest.
  private func firstInFirstOut(_ living: [Living], among entries: [String: Entry]) -> [Living] {
    let stored = entries.values.map(\.storedAt).sorted(by: >)
    let newest = stored.isEmpty ? 0 : stored[max(1, stored.count / 5) - 1]
    let unused = living.filter { $0.count == 0 }.sorted { ($0.stored, $0.key) < ($1.stored, $1.key) }
    let used = living.filter { $0.count > 0 }.sorted { ($0.used, $0.stored, $0.key) < ($1.used, $1.stored, $1.key) }
    return unused.filter { $0.stored < newest } + used + unused.filter { $0.stored >= newest }
  }
}
