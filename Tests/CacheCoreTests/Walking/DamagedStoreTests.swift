import EngineAPI
import EngineConformance
import FetchVocabulary
import TestStorage
import Testing
@testable import CacheCore

/// Operations on a whole store return the entries before the damage, and then fail with it.
struct DamagedStoreTests {
  private let damage = Damage(entries: [], prefixes: ["movies/"])

  private func damaged(_ store: GeneratedStore) -> EntryStore {
    EntryStore(engine: FaultyEngine(over: store.test.engine, damage), clock: store.test.clock)
  }

  @Test func everythingFailsWithTheDamage() async throws {
    let store = try await GeneratedStore(seed: 31, count: 2_600)
    let entries = damaged(store)
    let administration = StoreAdministration(entries)
    let destination = try await TestStore().store
    let calls: [(String, () async throws(CacheError) -> Void)] = [
      (
        "ls",
        { () async throws(CacheError) in _ = try await administration.list(EntrySelection(), after: nil, limit: .max) }
      ),
      (
        "ls by size",
        { () async throws(CacheError) in _ = try await administration.list(EntrySelection(), by: .size, limit: .max) }
      ), ("stats", { () async throws(CacheError) in _ = try await administration.statistics() }),
      (
        "rm",
        { () async throws(CacheError) in _ = try await administration.change(.remove, EntrySelection(), dryRun: true) }
      ), ("rm --all", { () async throws(CacheError) in try await administration.removeAll { _ in } }),
      ("compact", { () async throws(CacheError) in _ = try await administration.compact() }),
      (
        "export",
        { () async throws(CacheError) in _ = try await entries.export(EntrySelection(), progress: { _, _ in }) { _ in }
        }
      ),
      (
        "migrate",
        { () async throws(CacheError) in
          _ = try await entries.migrate(to: destination, TransferOptions()) { _, _, _ in }
        }
      ),
    ]
    for (name, call) in calls { #expect(await errorCode(call) == .damaged, "\(name)") }
    #expect(try await store.test.engine.scan(ScanRequest(limit: 10_000)).entries.count == 2_600, "nothing was removed")
  }

  @Test(.timeLimit(.minutes(1))) func aWalkThatIsLedBackEnds() async throws {
    let store = try await GeneratedStore(seed: 31, count: 2_600)
    let first = store.model[0].key.text
    store.test.engine.faults.page = { page, request in
      request.position == nil ? page : ScanPage(page.entries, next: first)
    }
    let administration = StoreAdministration(store.test.store)
    #expect(try await administration.verify().entriesChecked == 1_000)
    let listing = await errorCode { _ = try await administration.list(EntrySelection(), after: nil, limit: .max) }
    #expect(listing == .damaged)
    let export = await errorCode {
      _ = try await store.test.store.export(EntrySelection(), progress: { _, _ in }) { _ in }
    }
    #expect(export == .damaged)
  }

  @Test(arguments: [0, 1, 999, 1_000, 1_777]) func entriesBeforeTheDamageAreListed(index: Int) async throws {
    let store = try await GeneratedStore(seed: 37, count: 2_000)
    let damage = Damage(entries: [store.model[index].key], isNamed: false)
    let entries = EntryStore(engine: FaultyEngine(over: store.test.engine, damage), clock: store.test.clock)
    var listed: [ScannedEntry] = []
    let listing = await errorCode {
      _ = try await StoreAdministration(entries)
        .list(EntrySelection(), after: nil, limit: .max) { page, _ in listed += page }
    }
    #expect(listing == .damaged && listed == Array(store.model[..<index]))
  }

  @Test(arguments: [0, 1, 29]) func entriesBeforeTheDamageAreExported(index: Int) async throws {
    let test = try await TestStore()
    let keys = try (0..<30).map { try CacheKey("cities/v1/\(10 + $0)") }
    let payload: [UInt8] = [1]
    var batch = WriteBatch()
    for key in keys {
      var metadata = EntryMetadata(storedAt: test.clock.now, until: test.clock.now)
      metadata.setChecksums(key: key, payload: payload.span)
      batch.put(key, payload: payload, metadata: metadata)
    }
    try await test.engine.apply(batch)
    let engine = FaultyEngine(over: test.engine, Damage(entries: [keys[index]], isNamed: false))
    let entries = EntryStore(engine: engine, clock: test.clock)
    var lines = 0
    let export = await errorCode {
      _ = try await entries.export(EntrySelection(), progress: { _, _ in }) { bytes in
        lines += bytes.count { $0 == UInt8(ascii: "\n") }
      }
    }
    #expect(export == .damaged && lines == index)
  }

  /// If the engine names the entry that it cannot read, all others are exported and migrated, and it is reported.
  @Test(arguments: [0, 1, 999, 1_000, 2_499]) func entriesAfterANamedOneAreReadToo(index: Int) async throws {
    let test = try await TestStore()
    let stored = try GeneratedEntries.entries(seed: 4, count: 2_500, at: test.clock.now).sorted { $0.key < $1.key }
    try await test.engine.store(stored)
    let bad = stored[index].key
    let entries = EntryStore(engine: FaultyEngine(over: test.engine, Damage(entries: [bad])), clock: test.clock)
    let exported = try await entries.export(EntrySelection(), progress: { _, _ in }) { _ in }
    #expect(exported.written == 2_499 && exported.damaged.first == [bad])
    let destination = try await TestStore().store
    let report = try await entries.migrate(to: destination, TransferOptions()) { _, _, _ in }
    #expect(report.written == 2_499 && report.verified == 2_499 && report.damaged.first == [bad])
  }

  /// Damage that a listing does not meet does not end it.
  @Test func aListingReadsNoPayloads() async throws {
    let test = try await TestStore()
    let stored = try GeneratedEntries.entries(seed: 4, count: 20, at: test.clock.now).sorted { $0.key < $1.key }
    try await test.engine.store(stored)
    let engine = FaultyEngine(over: test.engine, Damage(entries: [stored[7].key], isListed: true))
    let administration = StoreAdministration(EntryStore(engine: engine, clock: test.clock))
    let listing = try await administration.list(EntrySelection(), after: nil, limit: .max)
    #expect(listing.entries.map(\.key) == stored.map(\.key))
    #expect(try await administration.list(EntrySelection(), by: .size, limit: .max).entries.count == stored.count)
    #expect(engine.requests.allSatisfy { !$0.includesPayloads })
    let shown = await errorCode { _ = try await administration.entry(stored[7].key) }
    #expect(shown == .damaged)
  }

  @Test func anotherNamespaceIsListed() async throws {
    let store = try await GeneratedStore(seed: 36, count: 2_600)
    let administration = StoreAdministration(damaged(store))
    let listing = try await administration.list(EntrySelection(namespace: "cities"), after: nil, limit: .max)
    #expect(listing.entries == store.model.filter { $0.key.namespace == "cities" })
  }
}

/// Entries that an engine cannot read, as on a damaged medium, and the symptoms of the damage.
struct Damage: Sendable {
  /// Keys of unreadable entries.
  var entries: Set<CacheKey> = []
  /// Whether only their payloads cannot be read, so that a scan without payloads lists them.
  var isListed = false
  /// Whether the check of the structure names them, and a scan that meets one.
  var isNamed = true
  /// The position at which a scan that meets an unreadable entry says that it can continue.
  var position: @Sendable (CacheKey) -> String? = { _ in nil }
  /// Prefixes under which no key can be listed, as with one damaged file per namespace.
  var prefixes: [String] = []
  /// The error code of a read that meets damage.
  var code = CacheError.Code.damaged
  /// The error of every call that reads.
  var failure: CacheError?

  /// The damage as the faults of an engine.
  var faults: Faults {
    var faults = Faults()
    faults.before = { call, _ throws(CacheError) in try check(call) }
    faults.page = { page, request throws(CacheError) in
      if !isListed || request.includesPayloads, let bad = page.entries.first(where: { entries.contains($0.key) }) {
        let cause = isNamed ? UnreadableEntry(bad.key, next: position(bad.key)) : nil
        throw CacheError(code, "entry \(bad.key) cannot be read", cause: cause)
      }
      return page
    }
    faults.issues = { _ in
      (isNamed ? entries.sorted() : []).map {
        IntegrityIssue(key: $0, kind: .undecodable, message: "cannot be decoded")
      } + prefixes.map { IntegrityIssue(kind: .structure, message: "the file of \($0) is damaged") }
    }
    return faults
  }

  private func check(_ call: EngineCall) throws(CacheError) {
    switch call {
    case .apply, .compact, .close: return
    case .read, .scan, .count, .check: if let failure { throw failure }
    }
    if case .read(let key) = call, entries.contains(key) { throw CacheError(code, "entry \(key) cannot be read") }
    if case .count = call, !prefixes.isEmpty { throw CacheError(code, "it cannot be counted") }
    guard case .scan(let request) = call else { return }
    for prefix in prefixes where prefix.hasPrefix(request.prefix) || request.prefix.hasPrefix(prefix) {
      if let position = request.position, position > prefix + "\u{7F}" { continue }
      throw CacheError(code, "the file of \(prefix) is damaged")
    }
  }
}

extension FaultyEngine {
  /// An engine in front of `base` that meets `damage`.
  convenience init(over base: any StorageEngine, _ damage: Damage) { self.init(over: base, damage.faults) }
}
