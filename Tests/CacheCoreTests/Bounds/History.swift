import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

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
    let code = await code { () async throws(CacheError) in
      try await stores[handle].write(
        key, payload: [UInt8](repeating: 1, count: size), metadata: metadata(entry), with: batch)
    }
    let expected = model.put(key.text, entry, replacing: others.map(\.text), by: handle)
    #expect(code ?? "stored" == expected.rawValue, "seed \(seed): \(key), \(size) bytes, \(model.limits)")
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
    var batch = WriteBatch()
    batch.remove(key)
    try await engines[handle].apply(batch)
    model.remove(key.text)
    return "remove \(key)"
  }

  /// What is in the namespace of leases does not count, and never goes.
  private mutating func putLease(_ handle: Int) async throws -> String {
    let key = try CacheKey("leases/v1/\(Int.random(in: 0..<4, using: &generator))")
    let entry = BoundsModel.Entry(bytes: 0, storedAt: model.now, retainUntil: model.now + 5)
    var batch = WriteBatch()
    batch.put(key, payload: [], metadata: metadata(entry))
    try await engines[handle].apply(batch)
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
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: entry.storedAt), freshUntil: retainUntil, retainUntil: retainUntil,
      contentType: "text/plain")
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
    #expect(
      total.payloadBytes == model.entries.values.reduce(0) { $0 + $1.bytes }, "\(context)")
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

/// The code of the error that `body` throws; `nil` where it throws none.
func code(_ body: () async throws(CacheError) -> Void) async -> String? {
  do throws(CacheError) {
    try await body()
    return nil
  } catch {
    return error.code.rawValue
  }
}
