import EngineAPI
import SeededNumbers
import Testing

@Suite struct EntryTableTests {
  private func entry(_ checksum: UInt64, retainUntil: Int64 = 100) -> EntryTable.Entry {
    let time = Timestamp(milliseconds: 0)
    let metadata = EntryMetadata(
      storedAt: time, freshUntil: time, retainUntil: Timestamp(milliseconds: retainUntil), contentType: "",
      checksum: checksum)
    return EntryTable.Entry(payload: [UInt8](repeating: 7, count: Int(checksum)), metadata: metadata)
  }

  private func table(_ checksums: [String: UInt64]) throws -> EntryTable {
    EntryTable(
      Dictionary(uniqueKeysWithValues: try checksums.map { (try CacheKey($0.key), entry($0.value)) }))
  }

  private func batch(_ build: (inout WriteBatch) throws -> Void) rethrows -> WriteBatch {
    var batch = WriteBatch()
    try build(&batch)
    return batch
  }

  private func put(_ text: String, _ checksum: UInt64, in batch: inout WriteBatch) throws {
    let entry = entry(checksum)
    batch.put(try CacheKey(text), payload: entry.payload, metadata: entry.metadata)
  }

  @Test func operationsTakeEffectInOrder() throws {
    var table = try table(["a/1": 1, "a/2": 2])
    try table.apply(
      batch {
        $0.require(try CacheKey("a/1"), .checksum(1))
        try put("a/1", 3, in: &$0)
        $0.require(try CacheKey("a/1"), .checksum(3))
        $0.remove(try CacheKey("a/2"))
        $0.require(try CacheKey("a/2"), .absent)
        $0.remove(try CacheKey("a/2"))
        try put("a/3", 4, in: &$0)
        try put("a/3", 5, in: &$0)
      })
    #expect(try table.entries == self.table(["a/1": 3, "a/3": 5]).entries)
  }

  @Test func anUpdateKeepsThePayload() throws {
    var table = try table(["a/1": 3])
    var renewed = entry(9, retainUntil: 50).metadata
    renewed.payloadChecksum = 77
    try table.apply(
      batch {
        $0.update(try CacheKey("a/1"), metadata: renewed, from: 3)
        $0.require(try CacheKey("a/1"), .checksum(9))
      })
    #expect(table[try CacheKey("a/1")] == EntryTable.Entry(payload: [7, 7, 7], metadata: renewed))
    #expect(table.count["a"] == EntryCount(entries: 1, payloadBytes: 3, earliestExpiry: Timestamp(milliseconds: 50)))
  }

  @Test(arguments: [("a/1", 2), ("a/2", 1), ("a/3", 0)] as [(String, UInt64)])
  func anUpdateOfAnotherVersionUndoesEverything(key: String, checksum: UInt64) throws {
    let before = try table(["a/1": 1, "a/2": 2])
    var table = before
    let batch = try batch {
      $0.update(try CacheKey("a/1"), metadata: entry(1, retainUntil: 70).metadata, from: 1)
      try put("a/2", 2, in: &$0)
      $0.update(try CacheKey(key), metadata: entry(5).metadata, from: checksum)
    }
    let error = #expect(throws: CacheError.self) { try table.apply(batch) }
    #expect(error?.code == .conflict)
    #expect(table.entries == before.entries)
  }

  @Test(arguments: [("a/1", nil), ("a/1", 9), ("a/8", 1), ("a/9", nil), ("a/9", 4), ("a/2", 2)] as [(String, UInt64?)])
  func aConflictUndoesEverything(key: String, checksum: UInt64?) throws {
    let before = try table(["a/1": 1, "a/2": 2])
    var table = before
    let batch = try batch {
      try put("a/2", 3, in: &$0)
      try put("a/9", 4, in: &$0)
      try put("a/9", 5, in: &$0)
      $0.remove(try CacheKey("a/1"))
      try put("a/1", 1, in: &$0)
      $0.require(try CacheKey(key), checksum.map { .checksum($0) } ?? .absent)
    }
    let error = #expect(throws: CacheError.self) { try table.apply(batch) }
    #expect(error?.code == .conflict)
    #expect(error?.message.contains(key) == true)
    #expect(table.entries == before.entries)
    #expect(table.scan(ScanRequest(limit: 9)).entries.map(\.key.text) == ["a/1", "a/2"])
  }

  @Test(
    arguments: [
      ("", nil, 9, ["a/1", "a/10", "a/2", "b/1"]), ("", nil, 2, ["a/1", "a/10"]), ("", "a/10", 9, ["a/2", "b/1"]),
      ("a", nil, 9, ["a/1", "a/10", "a/2"]), ("a/1", nil, 9, ["a/1", "a/10"]), ("a/1", "a/1", 9, ["a/10"]),
      ("a/1", "a/11", 9, []), ("b", "a/1", 9, ["b/1"]), ("a", "b/1", 9, []), ("c", nil, 9, []),
      ("", "a/1z", 1, ["a/2"]), ("é", nil, 9, []), ("a/2", nil, 10_000, ["a/2"]), ("", "a/2", 1, ["b/1"]),
    ] as [(String, String?, Int, [String])])
  func scansAreInOrder(prefix: String, after: String?, limit: Int, expected: [String]) throws {
    var table = try table(["a/10": 1, "a/2": 2, "b/1": 3, "a/1": 4])
    let request = ScanRequest(prefix: prefix, after: after, limit: limit)
    let page = table.scan(request)
    #expect(page.entries.map(\.key.text) == expected)
    #expect(page.entries.allSatisfy { request.contains($0.key) && $0.payload == nil })
    let following = table.entries.keys.filter { request.contains($0) }.count - expected.count
    #expect((page.next == nil) == (following == 0), "a page says that more follows if it does, and else not")
  }

  @Test func pagesWithPayloadsEndByTheirBytes() throws {
    let mebibyte = 1 << 20
    var table = EntryTable()
    for (number, size) in [3 * mebibyte, mebibyte, 1, 5 * mebibyte, 4 * mebibyte, 0].enumerated() {
      try table.apply(
        batch {
          $0.put(try CacheKey("a/\(number)"), payload: .init(repeating: 1, count: size), metadata: entry(1).metadata)
        })
    }
    var (request, pages) = (ScanRequest(includesPayloads: true), [[Int]]())
    repeat {
      let page = table.scan(request)
      pages.append(page.entries.map { $0.payload?.count ?? -1 })
      request.position = page.next
    } while request.position != nil
    #expect(pages == [[3 * mebibyte, mebibyte], [1], [5 * mebibyte], [4 * mebibyte, 0]])
  }

  @Test func aScanSeesWhatWasChangedSinceTheLast() throws {
    var table = try table(["a/1": 1])
    #expect(table.scan(ScanRequest(limit: 9)).entries.count == 1)
    try table.apply(batch { try put("a/0", 2, in: &$0) })
    #expect(table.scan(ScanRequest(limit: 9)).entries.map(\.key.text) == ["a/0", "a/1"])
    try table.apply(batch { try put("a/0", 5, in: &$0) })
    #expect(table.scan(ScanRequest(limit: 9)).entries.map(\.payloadBytes) == [5, 1])
    try table.apply(batch { $0.remove(try CacheKey("a/1")) })
    #expect(table.scan(ScanRequest(limit: 9)).entries.map(\.key.text) == ["a/0"])
  }

  /// Histories long enough that the keys lie in many chunks, which are split, emptied and removed.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func scansOfChangingTablesAreInOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = try (0..<4_000).map { try CacheKey("\($0 % 3 == 0 ? "a" : "b")/\($0)") }
    var table = EntryTable()
    var model: Set<CacheKey> = []
    for step in 0..<600 {
      // Growing for a while, then shrinking, in runs of neighbours as well as one here and one there.
      let start = Int.random(in: names.indices, using: &random)
      let run = names[start...].prefix(random.isOne(in: 3) ? 120 : 6)
      let isGrowing = (step / 150).isMultiple(of: 2) != random.isOne(in: 4)
      let fails = random.isOne(in: 10)
      let changes = try batch { batch in
        for key in run {
          if isGrowing { try put(key.text, 1, in: &batch) } else { batch.remove(key) }
        }
        if fails { batch.require(try CacheKey("a/none"), .checksum(1)) }
      }
      do { try table.apply(changes) } catch { #expect(fails && error.code == .conflict) }
      if !fails { if isGrowing { model.formUnion(run) } else { model.subtract(run) } }
      let request = ScanRequest(
        prefix: random.pick(["", "a/", "b/1", "b/39"]), after: random.isOne(in: 2) ? random.pick(names).text : nil,
        limit: random.pick([1, 2, 300, 10_000]), isDescending: random.isOne(in: 2))
      let expected = model.filter(request.contains).sorted { ($0 < $1) != request.isDescending }
      let page = table.scan(request)
      #expect(page.entries.map(\.key) == Array(expected.prefix(request.limit)), "step \(step)")
      #expect((page.next == nil) == (expected.count <= request.limit), "step \(step)")
    }
    #expect(table.scan(ScanRequest(limit: 10_000)).entries.map(\.key) == model.sorted())
  }

  @Test(arguments: [(99, 2, false), (100, 1, true), (200, 0, true)] as [(Int64, Int, Bool)])
  func whatHasExpiredIsRemoved(time: Int64, left: Int, isChanged: Bool) throws {
    var table = EntryTable([try CacheKey("a/1"): entry(1), try CacheKey("a/2"): entry(2, retainUntil: 200)])
    #expect(table.scan(ScanRequest(limit: 9)).entries.count == 2)
    #expect(table.removeExpired(at: Timestamp(milliseconds: time)) == isChanged)
    #expect(table.entries.count == left)
    #expect(table.scan(ScanRequest(limit: 9)).entries.count == left)
  }

  @Test func entriesAreCounted() throws {
    #expect(try table([:]).count == StoreCount())
    var table = try table(["b/1": 5, "a/1": 1, "a/2": 2])
    let end = Timestamp(milliseconds: 100)
    #expect(
      table.count.namespaces == [
        "a": EntryCount(entries: 2, payloadBytes: 3, earliestExpiry: end),
        "b": EntryCount(entries: 1, payloadBytes: 5, earliestExpiry: end),
      ])
    try table.apply(
      batch {
        $0.remove(try CacheKey("b/1"))
        $0.remove(try CacheKey("b/2"))
        $0.put(try CacheKey("a/1"), payload: [1, 2, 3, 4], metadata: entry(1).metadata)
      })
    #expect(table.count.namespaces == ["a": EntryCount(entries: 2, payloadBytes: 6, earliestExpiry: end)])
    #expect(table.count == EntryTable(table.entries).count)
  }

  @Test func theEarliestExpiryIsExactAfterExpiredEntriesWereRemoved() throws {
    var table = EntryTable([
      try CacheKey("a/1"): entry(1, retainUntil: 50), try CacheKey("a/2"): entry(2, retainUntil: 90),
    ])
    try table.apply(batch { $0.remove(try CacheKey("a/1")) })
    #expect(table.count["a"].earliestExpiry.milliseconds == 50, "it may be too early")
    let hasChanged = table.removeExpired(at: Timestamp(milliseconds: 60))
    #expect(!hasChanged)
    #expect(table.count["a"].earliestExpiry.milliseconds == 90)
  }

  @Test(arguments: [(3, 100, true), (2, 100, false), (3, 6, true), (3, 5, false)])
  func boundsHoldOrNothingChanges(maxEntries: Int, maxPayloadBytes: Int, isWithin: Bool) throws {
    var table = try table(["a/1": 1, "a/2": 2, "leases/1": 9])
    let before = table.count
    var batch = try batch { $0.put(try CacheKey("b/1"), payload: [1, 2, 3], metadata: entry(1).metadata) }
    batch.bounds = StoreBounds(maxEntries: maxEntries, maxPayloadBytes: maxPayloadBytes, exemptNamespace: "leases")
    if isWithin {
      try table.apply(batch)
      #expect(table.entries.count == 4)
    } else {
      let error = #expect(throws: CacheError.self) { try table.apply(batch) }
      #expect(error?.code == .overBounds)
      #expect(table.count == before)
      #expect(table.entries.count == 3)
    }
  }

  @Test func aCopyIsAValueOfItsOwn() throws {
    let before = try table(["a/1": 1])
    var copy = before
    try copy.apply(batch { $0.remove(try CacheKey("a/1")) })
    #expect(before[try CacheKey("a/1")] == entry(1))
    #expect(copy[try CacheKey("a/1")] == nil)
  }
}
