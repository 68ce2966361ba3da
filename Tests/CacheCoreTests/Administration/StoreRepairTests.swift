import FetchVocabulary
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// A repair saves every entry that can be read around damage, whatever ends the process that reads.
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
    metadata.setChecksums(key: key(number), payload: payload.span)
    return ExportedEntry(key: key(number), metadata: metadata, payload: payload)
  }

  /// A reader of `count` entries.
  struct Reader: DamagedStoreReader, Sendable {
    /// The entries that end a process that lists them.
    var deadlyToList: Set<Int> = []
    /// The entries that end a process that reads them.
    var deadlyToRead: Set<Int> = []
    /// The entries that cannot be read.
    var lost: Set<Int> = []
    /// The entries that cannot be listed, and that the engine names.
    var unlisted: Set<Int> = []
    /// The entries of which nothing comes.
    var unanswered: Set<Int> = []
    /// The entries at which reading hangs.
    var silent: Set<Int> = []
    /// An entry that ends a process that lists it forwards.
    var wall: Int?
    var opens = true
    fileprivate var items: [DamagedStoreItem] = []

    mutating func begin(_ request: ScanRequest) throws(CacheError) {
      items = []
      defer { items.reverse() }
      guard opens else { return items.append(.stopped(reason: "it cannot be opened")) }
      var rest = (0..<StoreRepairTests.count).filter { request.contains(StoreRepairTests.key($0)) }[...]
      if request.isDescending { rest = Array(rest.reversed())[...] }
      while !rest.isEmpty {
        let page = rest.prefix(request.limit)
        rest = rest.dropFirst(page.count)
        let isWalled = !request.isDescending && page.contains { $0 == wall }
        guard deadlyToList.isDisjoint(with: page), !isWalled else { return items.append(.stopped(reason: "killed")) }
        if request.limit > 1 {
          // The payloads of a page are read together.
          guard deadlyToRead.isDisjoint(with: page) else { return items.append(.stopped(reason: "killed")) }
          guard silent.isDisjoint(with: page) else { return items.append(.stopped(reason: "silent", isSilent: true)) }
        }
        for number in page {
          if unlisted.contains(number) {
            items.append(.lost(StoreRepairTests.key(number), reason: "not listed"))
            continue
          }
          items.append(.reading(StoreRepairTests.key(number)))
          if deadlyToRead.contains(number) { return items.append(.stopped(reason: "killed")) }
          if silent.contains(number) { return items.append(.stopped(reason: "silent", isSilent: true)) }
          if unanswered.contains(number) { continue }
          let isLost = lost.contains(number)
          items.append(
            isLost ? .lost(StoreRepairTests.key(number), reason: "cut off") : .entry(StoreRepairTests.entry(number)))
        }
      }
      items.append(.end)
    }

    mutating func next() async throws(CacheError) -> DamagedStoreItem { items.removeLast() }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var reader = Reader()
    /// The numbers of the entries that are neither saved nor known to be lost.
    var missing = Set<Int>()
  }

  static let cases = [
    Case(testDescription: "intact"),
    Case(testDescription: "nothing can be opened", reader: Reader(opens: false), missing: Set(0..<count)),
    Case(testDescription: "an entry cannot be listed", reader: Reader(deadlyToList: [1_234]), missing: [1_234]),
    Case(testDescription: "the first cannot be listed", reader: Reader(deadlyToList: [0]), missing: [0]),
    Case(testDescription: "the last cannot be listed", reader: Reader(deadlyToList: [2_499]), missing: [2_499]),
    Case(testDescription: "two cannot be listed", reader: Reader(deadlyToList: [700, 710]), missing: Set(700...710)),
    Case(testDescription: "some cannot be read", reader: Reader(lost: [0, 5, 1_000, 2_499])),
    Case(testDescription: "some end the process", reader: Reader(deadlyToRead: [0, 1, 999, 1_000, 2_499])),
    Case(testDescription: "nothing comes of some", reader: Reader(unlisted: [8], unanswered: [5, 7, 2_499])),
    Case(
      testDescription: "one way leads further",
      reader: Reader(unlisted: [1_498, 1_499], unanswered: [1_501], wall: 1_500)),
    Case(
      testDescription: "reading hangs at many", reader: Reader(silent: [10, 20, 30, 40, 50, 60, 70, 80]),
      missing: Set(31...59)),
    Case(
      testDescription: "everything at once",
      reader: Reader(deadlyToList: [1_500], deadlyToRead: [7, 1_600], lost: [8, 1_501]), missing: [1_500]),
  ]

  @Test(arguments: cases) func readableEntriesAreSaved(test: Case) async throws {
    let store = try await TestStore()
    let reader = test.reader
    let lost = [reader.deadlyToRead, reader.lost, reader.unlisted, reader.unanswered, reader.silent]
      .reduce(Set()) { $0.union($1) }.subtracting(test.missing)
    for into in [nil, store.store] {
      var repair = StoreRepair(test.reader, into: into)
      let report = try await repair.run()
      #expect(report.saved == Self.count - lost.count - test.missing.count)
      #expect(Set(report.lost.compactMap(\.key)) == Set(lost.map(Self.key)) && report.lost.count == lost.count)
      #expect(
        report.possiblyLost.isEmpty == (test.missing.isEmpty && test.reader.wall == nil), "\(report.possiblyLost)")
    }
    let saved = Set(0..<Self.count).subtracting(lost).subtracting(test.missing)
    let found = try await store.engine.scan(ScanRequest(limit: 10_000)).entries.map(\.key)
    #expect(found == saved.sorted().map(Self.key))
    #expect(try await StoreAdministration(store.store).verify().issues.isEmpty)
  }

  /// Another process has stored a newer entry in the meantime.
  @Test func anEntryThatIsThereAlreadyStays() async throws {
    let store = try await TestStore()
    var metadata = Self.entry(1).metadata
    metadata.storedAt = Timestamp(milliseconds: 500)
    try await store.store.write(Self.key(1), payload: [9], metadata: metadata)
    var repair = StoreRepair(Reader(), into: store.store)
    #expect(try await repair.run().saved == Self.count)
    #expect(try await store.store.read(Self.key(1)) { bytes, _ in bytes.count }?.value == 1)
  }

  /// A shell does not know combining marks: the character before one is not part of a letter.
  @Test func thePathInACommandIsOneWord() {
    for (path, word) in [
      ("/a/b-1_2", "p=/a/b-1_2"), ("/a b", "'p=/a b'"), ("/it's", #"'p=/it'\''s'"#), ("/ä", "p=/ä"),
      ("/`id`\u{301}", "'p=/`id`\u{301}'"), ("/'\u{301};", "'p=/'\\''\u{301};'"),
    ] {
      let declaration = EngineDeclaration(name: "e", version: "1", summary: "", capabilities: [], options: [])
      let commands = declaration.commandsToSave(storeAt: path)
      let expected = word.replacing("p=", with: "backends.e.path=")
      #expect(commands.hasPrefix("cachectl --backend e --set \(expected) verify"), "\(commands)")
    }
  }

  @Test func failedWritesAreErrors() async throws {
    let store = try await TestStore()
    store.engine.faults.before = { call, _ throws(CacheError) in
      if case .apply = call { throw CacheError(.noSpace, "the disk is full") }
    }
    let code = await errorCode {
      var repair = StoreRepair(Reader(), into: store.store)
      _ = try await repair.run()
    }
    #expect(code == .noSpace)
  }

  /// Returns the keys that a process read from `engine`, the keys that it lost, and the error code if it did not reach
  /// the end.
  private func read(
    _ engine: any StorageEngine, isDescending: Bool, limit: Int = 10
  ) async throws -> (read: [CacheKey], lost: [CacheKey], code: CacheError.Code?) {
    let store = EntryStore(engine: engine, clock: try await TestStore().clock)
    let administration = StoreAdministration(store)
    var (read, lost) = ([CacheKey](), [CacheKey]())
    var code: CacheError.Code?
    do throws(CacheError) {
      try await administration.readDamaged(
        ScanRequest(limit: limit, includesPayloads: true, isDescending: isDescending)
      ) { item in
        switch item {
        case .entry(let entry): read.append(entry.key)
        case .lost(let key, _): lost.append(key)
        case .reading, .end, .stopped: break
        }
      }
    } catch { code = error.code }
    return (read, lost, code)
  }

  @Test(arguments: [false, true], [1, 10])
  func theReadingProcessReadsUpToTheDamage(isDescending: Bool, limit: Int) async throws {
    let test = try await TestStore()
    try await test.engine.store((0..<100).map(Self.entry))
    func keys(_ numbers: some Sequence<Int>) -> [CacheKey] { numbers.map(Self.key) }
    func read(_ damage: Damage) async throws -> (read: [CacheKey], lost: [CacheKey], code: CacheError.Code?) {
      try await self.read(FaultyEngine(over: test.engine, damage), isDescending: isDescending, limit: limit)
    }
    let whole = try await self.read(test.engine, isDescending: isDescending, limit: limit)
    #expect(whole.read == keys(isDescending ? Array((0..<100).reversed()) : Array(0..<100)) && whole.code == nil)
    for isListed in [false, true] {
      let named = try await read(Damage(entries: [Self.key(33)], isListed: isListed))
      #expect(named.read.count == 99 && named.lost == keys([33]) && named.code == nil)
      let damage = Damage(entries: [Self.key(33)], isListed: isListed, isNamed: false)
      let unnamed = try await read(damage)
      // If single entries are listed before they are read, the listing continues.
      let passes = isListed && limit == 1
      let before = isDescending ? Array((34..<100).reversed()) : Array(0..<33)
      let after = isDescending ? Array((0..<33).reversed()) : Array(34..<100)
      #expect(unnamed.read == keys(before + (passes ? after : [])))
      #expect(unnamed.lost == (passes ? keys([33]) : []) && unnamed.code == (passes ? nil : .damaged))
    }
  }

  /// A process that dies at a single entry has said before which one it reads.
  @Test func singleEntriesAreAnnouncedBeforeTheyAreRead() async throws {
    let test = try await TestStore()
    try await test.engine.store((0..<3).map(Self.entry))
    let engine = test.engine
    var announced: [CacheKey] = []
    let administration = StoreAdministration(test.store)
    try await administration.readDamaged(ScanRequest(limit: 1, includesPayloads: true)) { item in
      guard case .reading(let key) = item else { return }
      #expect(engine.requests.count { $0.includesPayloads } == announced.count)
      announced.append(key)
    }
    #expect(announced == (0..<3).map(Self.key))
  }

  /// Without an order no scan can begin behind a key, nor run backwards.
  @Test func anEngineWithoutOrderIsReadUpToTheDamage() async throws {
    let store = try await TestStore()
    var repair = StoreRepair(Reader(deadlyToList: [1_500]), into: store.store, isOrdered: false)
    let report = try await repair.run()
    #expect(report.saved == 1_000 && report.lost.isEmpty && report.possiblyLost.count == 1)
  }

  /// A damaged tree may contain a cycle.
  @Test func aListingWithACycleEnds() async throws {
    let test = try await TestStore()
    try await test.engine.store((0..<30).map(Self.entry))
    test.engine.faults.page = { page, request throws(CacheError) in
      guard request.position != nil else { return page }
      let entries = (0..<request.limit).map { number in
        let entry = Self.entry(number % 10)
        return ScannedEntry(key: entry.key, metadata: entry.metadata, payload: entry.payload)
      }
      return ScanPage(entries, next: entries.last?.key.text)
    }
    let found = try await read(test.engine, isDescending: false)
    #expect(found.read == (0..<10).map(Self.key) && found.code == .damaged)
  }
}
