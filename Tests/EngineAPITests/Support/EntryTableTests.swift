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

  /// Histories long enough that the keys are in many chunks, which are split, emptied and removed.
  @Test(arguments: 1...3 as ClosedRange<UInt64>)
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

  @Test func aCopyIsASeparateValue() throws {
    let before = try table(["a/1": 1])
    var copy = before
    try copy.apply(batch { $0.remove(try CacheKey("a/1")) })
    #expect(before[try CacheKey("a/1")] == entry(1))
    #expect(copy[try CacheKey("a/1")] == nil)
  }
}
