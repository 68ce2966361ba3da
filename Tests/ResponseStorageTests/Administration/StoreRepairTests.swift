import FetchVocabulary
import StorageSPI
import TestStorage
import Testing

@testable import ResponseStorage

/// A repair saves what can be read around damage, whatever ends the process that reads.
struct StoreRepairTests {
  private static let count = 2_500

  private static func key(_ number: Int) -> CacheKey {
    let text = "cities/v1/\(10_000 + number)"
    return CacheKey(trusting: text.utf8.span)
  }

  private static func entry(_ number: Int) -> ExportedEntry {
    let payload = Array("payload \(number)".utf8)
    var metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: 5), freshUntil: Timestamp(milliseconds: 6), retainUntil: .distantFuture,
      contentType: "text/plain")
    metadata.checksum = metadata.computedChecksum(key: key(number), payload: payload.span)
    return ExportedEntry(key: key(number), metadata: metadata, payload: payload)
  }

  /// A reader of `count` entries.
  private struct Reader: DamagedStoreReader {
    /// The entries that end a process that lists them.
    var deadlyToList: Set<Int> = []
    /// The entries that end a process that reads them.
    var deadlyToRead: Set<Int> = []
    /// The entries that cannot be read.
    var lost: Set<Int> = []
    var opens = true
    private(set) var begins = 0
    private var items: [DamagedStoreItem] = []

    mutating func begin(_ range: KeyRange, pageSize: Int) throws(CacheError) {
      begins += 1
      items = []
      defer { items.reverse() }
      guard opens else { return items.append(.stopped(reason: "it cannot be opened")) }
      var rest = (0..<StoreRepairTests.count).filter { range.contains(StoreRepairTests.key($0)) }[...]
      if range.isDescending { rest = Array(rest.reversed())[...] }
      while !rest.isEmpty {
        let page = rest.prefix(pageSize)
        rest = rest.dropFirst(page.count)
        guard deadlyToList.isDisjoint(with: page) else { return items.append(.stopped(reason: "killed")) }
        for number in page {
          items.append(.reading(StoreRepairTests.key(number)))
          if deadlyToRead.contains(number) { return items.append(.stopped(reason: "killed")) }
          let isLost = lost.contains(number)
          items.append(
            isLost
              ? .lost(StoreRepairTests.key(number), reason: "cut off") : .entry(StoreRepairTests.entry(number)))
        }
      }
      items.append(.end)
    }

    mutating func next() async throws(CacheError) -> DamagedStoreItem { items.removeLast() }

    init(
      deadlyToList: Set<Int> = [], deadlyToRead: Set<Int> = [], lost: Set<Int> = [], opens: Bool = true
    ) {
      (self.deadlyToList, self.deadlyToRead, self.lost, self.opens) = (deadlyToList, deadlyToRead, lost, opens)
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var deadlyToList: Set<Int> = []
    var deadlyToRead: Set<Int> = []
    var lost: Set<Int> = []
    var opens = true
    /// The numbers of the entries that are neither saved nor known to be lost.
    var missing = Set<Int>()
  }

  static let cases = [
    Case(testDescription: "intact"),
    Case(testDescription: "nothing can be opened", opens: false, missing: Set(0..<count)),
    Case(testDescription: "an entry cannot be listed", deadlyToList: [1_234], missing: [1_234]),
    Case(testDescription: "the first cannot be listed", deadlyToList: [0], missing: [0]),
    Case(testDescription: "the last cannot be listed", deadlyToList: [2_499], missing: [2_499]),
    Case(testDescription: "two cannot be listed", deadlyToList: [700, 710], missing: Set(700...710)),
    Case(testDescription: "some cannot be read", lost: [0, 5, 1_000, 2_499]),
    Case(testDescription: "some end the process", deadlyToRead: [0, 1, 999, 1_000, 2_499]),
    Case(
      testDescription: "everything at once", deadlyToList: [1_500], deadlyToRead: [7, 1_600], lost: [8, 1_501],
      missing: [1_500]),
  ]

  @Test(arguments: cases) func whatCanBeReadIsSaved(test: Case) async throws {
    let store = try await TestStore()
    for into in [nil, store.store] {
      let reader = Reader(
        deadlyToList: test.deadlyToList, deadlyToRead: test.deadlyToRead, lost: test.lost, opens: test.opens)
      var repair = StoreRepair(reader, into: into)
      let report = try await repair.run()
      let lost = test.deadlyToRead.union(test.lost)
      #expect(report.saved == Self.count - lost.count - test.missing.count)
      #expect(Set(report.lost.compactMap(\.key)) == Set(lost.map(Self.key)) && report.lost.count == lost.count)
      #expect(report.possiblyLost.isEmpty == test.missing.isEmpty, "\(report.possiblyLost)")
    }
    let saved = Set(0..<Self.count).subtracting(test.deadlyToRead).subtracting(test.lost).subtracting(test.missing)
    let found = try await store.engine.scan(KeyRange(), limit: .max).map(\.key)
    #expect(found == saved.sorted().map(Self.key))
    #expect(try await StoreAdministration(store: store.store, ledger: FakeLedger()).verify().issues.isEmpty)
  }

  /// What another process has stored meanwhile is newer.
  @Test func anEntryThatIsThereAlreadyStays() async throws {
    let store = try await TestStore()
    var metadata = Self.entry(1).metadata
    metadata.storedAt = Timestamp(milliseconds: 500)
    try await store.store.write(Self.key(1), payload: [9], metadata: metadata)
    var repair = StoreRepair(Reader(), into: store.store)
    #expect(try await repair.run().saved == Self.count)
    #expect(try await store.store.read(Self.key(1)) { bytes, _ in bytes.count }?.value == 1)
  }

  @Test func whatCannotBeWrittenIsAnError() async throws {
    let store = try await TestStore()
    store.engine.faults.before = { call, _ throws(CacheError) in
      if case .apply = call { throw CacheError(.noSpace, "the disk is full") }
    }
    let code = await errorCode { () async throws(CacheError) in
      var repair = StoreRepair(Reader(), into: store.store)
      _ = try await repair.run()
    }
    #expect(code == .noSpace)
  }

  /// What the reading process passes on of `engine`: the keys read and lost, and whether it came to the end.
  private func read(
    _ engine: any StorageEngine, isDescending: Bool
  ) async throws -> (read: [CacheKey], lost: [CacheKey], code: CacheError.Code?) {
    let store = EntryStore(engine: engine, clock: try await TestStore().clock)
    let administration = StoreAdministration(store: store, ledger: FakeLedger())
    var (read, lost) = ([CacheKey](), [CacheKey]())
    var code: CacheError.Code?
    do throws(CacheError) {
      try await administration.readDamaged(KeyRange(isDescending: isDescending), pageSize: 10) { item in
        switch item {
        case .entry(let entry): read.append(entry.key)
        case .lost(let key, _): lost.append(key)
        case .reading, .end, .stopped: break
        }
      }
    } catch { code = error.code }
    return (read, lost, code)
  }

  @Test(arguments: [false, true]) func theReadingProcessComesAsNearToDamageAsItCan(isDescending: Bool) async throws {
    let test = try await TestStore()
    try await test.engine.store((0..<100).map(Self.entry))
    func keys(_ numbers: some Sequence<Int>) -> [CacheKey] { numbers.map(Self.key) }
    let whole = try await read(test.engine, isDescending: isDescending)
    #expect(whole.read == keys(isDescending ? Array((0..<100).reversed()) : Array(0..<100)) && whole.code == nil)
    let damage = Damage(entries: [Self.key(33)])
    let listed = try await read(
      FaultyEngine(over: test.engine, Damage(entries: [Self.key(33)], isListed: true)), isDescending: isDescending)
    #expect(listed.read.count == 99 && listed.lost == keys([33]) && listed.code == nil)
    let unlisted = try await read(FaultyEngine(over: test.engine, damage), isDescending: isDescending)
    #expect(unlisted.read == keys(isDescending ? Array((34..<100).reversed()) : Array(0..<33)))
    #expect(unlisted.lost.isEmpty && unlisted.code == .damaged)
  }

  /// A damaged tree may lead back to where it came from.
  @Test func aListingThatGoesInCirclesEnds() async throws {
    let test = try await TestStore()
    try await test.engine.store((0..<30).map(Self.entry))
    test.engine.faults.page = { page, range, limit throws(CacheError) in
      range.after == nil
        ? page
        : (0..<limit).map {
          EntrySummary(key: Self.key($0 % 10), metadata: Self.entry($0 % 10).metadata, payloadBytes: 1)
        }
    }
    let found = try await read(test.engine, isDescending: false)
    #expect(found.read == (0..<10).map(Self.key) && found.code == .damaged)
  }
}
