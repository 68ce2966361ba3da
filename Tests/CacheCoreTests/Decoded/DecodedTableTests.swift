import EngineAPI
import Testing

@testable import CacheCore

/// The table of decoded entries: what it returns, and what it evicts.
struct DecodedTableTests {
  private let codec = "test"
  private let metadata = EntryMetadata(
    storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")

  private func entry(_ key: CacheKey, _ digest: UInt64, bytes: Int) -> DecodedEntry {
    DecodedEntry(key: key, digest: digest, metadata: metadata, payloadBytes: bytes, codec: codec)
  }

  /// Whatever is kept, used and removed: the limits hold, and an entry is the one that was kept last under its key.
  @Test(
    arguments: [
      (DecodedLimits(maxEntries: 8, maxBytes: 1_000_000), UInt64.max), (DecodedLimits(maxEntries: 8, maxBytes: 100), 3),
      (DecodedLimits(maxEntries: 1_000, maxBytes: 90), 0), (DecodedLimits(maxEntries: 1, maxBytes: 1_000), 1),
      (DecodedLimits(maxEntries: 5, maxBytes: 0), .max), (DecodedLimits(maxEntries: 0, maxBytes: 9), .max),
    ] as [(DecodedLimits, UInt64)])
  func itReturnsTheLatestKeptValue(limits: DecodedLimits, digestMask: UInt64) throws {
    var (table, model) = (DecodedTable(limits), [UInt64: (entry: DecodedEntry, count: UInt64?)]())
    var random = GeneratorOfNumbers(state: 42)
    let keys = try (0..<20).map { try CacheKey("notes/\($0)") }
    for step in 0..<5_000 {
      let number = random.next(20)
      // With few digests, many keys share one, and so one place.
      let (key, digest) = (keys[number], UInt64(number) &* 0x9E37_79B9_7F4A_7C15 & digestMask)
      switch random.next(5) {
      case 0, 1:
        let (kept, count) = (entry(key, digest, bytes: random.next(60)), random.next(2) == 0 ? nil : UInt64(step))
        table.keep(kept, changeCount: count)
        model[digest] = (kept, count)
        let fits = kept.payloadBytes <= limits.maxBytes && limits.maxEntries > 0
        table.keep(kept, changeCount: count)
        #expect((table.use(key, digest) != nil) == fits, "it came for the second time at the latest in step \(step)")
      case 2:
        table.remove(digest)
        model[digest] = nil
        #expect(!table.remove(digest) && table.use(key, digest) == nil, "step \(step)")
      default:
        guard let found = table.use(key, digest) else { break }
        #expect(found.entry === model[digest]?.entry && found.changeCount == model[digest]?.count, "step \(step)")
      }
      let kept = keys.enumerated().compactMap { number, key in
        var table = table
        return table.use(key, UInt64(number) &* 0x9E37_79B9_7F4A_7C15 & digestMask)?.entry.payloadBytes
      }
      #expect(kept.count == table.count && kept.reduce(0, +) == table.payloadBytes, "step \(step)")
      #expect(table.count <= limits.maxEntries && table.payloadBytes <= limits.maxBytes, "step \(step)")
    }
  }

  @Test func aWalkOverManyEntriesLeavesUsedEntries() throws {
    var table = DecodedTable(DecodedLimits(maxEntries: 10, maxBytes: 1_000))
    let keys = try (0..<100).map { try CacheKey("notes/\($0)") }
    let digests = keys.map { AccessRecord.digest(of: $0) }
    for (key, digest) in zip(keys, digests) { table.keep(entry(key, digest, bytes: 1), changeCount: 1) }
    #expect(table.use(keys[99], digests[99]) == nil, "it came once")
    for number in 50..<100 {
      for used in 0..<3 { #expect(table.use(keys[used], digests[used]) != nil, "\(number)") }
      table.keep(entry(keys[number], digests[number], bytes: 1), changeCount: 1)
    }
    #expect(table.use(keys[99], digests[99]) != nil, "it came for the second time")
    #expect(table.count == 10)
  }
}

/// A linear congruential generator (Knuth, MMIX).
private struct GeneratorOfNumbers {
  var state: UInt64

  mutating func next(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % limit
  }
}
