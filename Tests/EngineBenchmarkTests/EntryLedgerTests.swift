import EngineAPI
import Testing

@testable import EngineBenchmark

struct EntryLedgerTests {
  @Test func anEntryIsWrittenByOneAtATime() {
    let ledger = EntryLedger(count: 3)
    #expect(ledger.committed(1) == 0 && ledger.begun(1) == 0)
    #expect(ledger.beginWrite(1) == 1)
    #expect(ledger.beginWrite(1) == nil)
    #expect(ledger.committed(1) == 0 && ledger.begun(1) == 1)
    ledger.endWrite(1, 1)
    #expect(ledger.committed(1) == 1 && ledger.beginWrite(1) == 2)
    #expect(ledger.committed(0) == 0 && ledger.committed(2) == 0)
  }

  @Test func writersThatRaceGetDifferentVersions() async {
    let ledger = EntryLedger(count: 1)
    await withTaskGroup(of: [UInt32].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var versions: [UInt32] = []
          for _ in 0..<1_000 {
            guard let version = ledger.beginWrite(0) else { continue }
            versions.append(version)
            ledger.endWrite(0, version)
          }
          return versions
        }
      }
      var all: [UInt32] = []
      for await versions in group { all += versions }
      #expect(Set(all).count == all.count && all.count == Int(ledger.committed(0)))
    }
  }
}

struct EntryValuesTests {
  private func values(_ size: Int) -> EntryValues {
    var workload = Fixtures.workload()
    workload.valueSize = size
    return EntryValues(workload, seed: 42, now: Fixtures.date)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 63, 64, 1_000])
  func aValueMatchesOnlyItsTag(size: Int) {
    let values = values(size)
    let tag = values.tag(3, 1)
    let payload = values.payload(tag: tag)
    #expect(payload.count == size && payload.allSatisfy { (0x60...0x6F).contains($0) })
    func isValue(_ bytes: [UInt8], _ tag: UInt64) -> Bool { values.isPayload(bytes.span, tag: tag) }
    #expect(isValue(payload, tag))
    guard size >= 7 else { return }
    #expect(!isValue(payload, values.tag(3, 2)))
    #expect(!isValue(payload, values.tag(4, 1)))
    #expect(!isValue(payload.dropLast(), tag))
    for index in payload.indices {
      var changed = payload
      changed[index] ^= 1
      #expect(!isValue(changed, tag), "byte \(index)")
    }
  }

  @Test func tagsDiffer() {
    let values = values(1)
    let tags = (0..<1_000).flatMap { number in (1...10).map { values.tag(number, $0) } }
    #expect(Set(tags).count == 10_000)
  }

}

struct KeySpaceTests {
  @Test(arguments: [(16, 0, "bench/0000000000"), (16, 123, "bench/0000000123"), (20, 7, "bench/00000000000007")])
  func keysHaveTheirLength(length: Int, number: Int, expected: String) throws {
    let keys = try KeySpace(length: length, count: 100)
    let key = try keys.key(number)
    #expect(key.text == expected && keys.owns(key))
  }

  @Test func processesHaveNoKeyInCommon() throws {
    let shares = try (0..<32).map { try KeySpace(length: 16, process: $0) }
    let last = Workload.entriesRange.upperBound - 1
    for (left, right) in zip(shares, shares.dropFirst()) {
      #expect(try left.key(last) < right.key(0))
      #expect(try left.owns(left.key(last)) && !left.owns(right.key(0)) && !right.owns(left.key(last)))
    }
    #expect(try shares[31].key(last).text.utf8.count == 16)
  }

  @Test(arguments: ["bench/1", "other/0000000000", "bench/00000000x0"])
  func otherKeysAreNone(text: String) throws {
    #expect(try !KeySpace(length: 16).owns(try CacheKey(text)))
  }
}
