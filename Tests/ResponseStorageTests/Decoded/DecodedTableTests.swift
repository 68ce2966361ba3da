import StorageSPI
import Testing

@testable import CacheCore

/// Compares the table of decoded entries with a plain list.
struct DecodedTableTests {
  private struct Kept: Equatable {
    let key: CacheKey
    let digest: UInt64
    let bytes: Int
    let count: UInt64?
  }

  /// The kept entries, the newest last, and the rejected digests.
  private struct Model {
    let limits: DecodedLimits
    var kept: [Kept] = []
    var turnedAway: [Int: UInt64] = [:]

    var bytes: Int { kept.map(\.bytes).reduce(0, +) }
    var isOverLimits: Bool { kept.count > limits.maxEntries || bytes > limits.maxBytes }

    mutating func keep(_ new: Kept) {
      let before = kept.count
      kept.removeAll { $0.digest == new.digest }
      if new.bytes > limits.maxBytes { return }
      let wasKept = kept.count < before
      kept.append(new)
      if isOverLimits, !wasKept, !isKnown(new.digest) { kept.removeLast() }
      while isOverLimits { kept.removeFirst() }
    }

    private mutating func isKnown(_ digest: UInt64) -> Bool {
      turnedAway.updateValue(digest, forKey: Int(digest % UInt64(DecodedTable.turnedAwayCount))) ?? 0 == digest
    }
  }

  private let codec = "test"
  private let metadata = EntryMetadata(
    storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")

  private func entry(_ key: CacheKey, _ digest: UInt64, bytes: Int) -> DecodedEntry {
    DecodedEntry(key: key, digest: digest, metadata: metadata, payloadBytes: bytes, codec: codec)
  }

  @Test(
    arguments: [
      (DecodedLimits(maxEntries: 8, maxBytes: 1_000_000), UInt64.max), (DecodedLimits(maxEntries: 8, maxBytes: 100), 3),
      (DecodedLimits(maxEntries: 1_000, maxBytes: 90), 0), (DecodedLimits(maxEntries: 1, maxBytes: 1_000), 1),
      (DecodedLimits(maxEntries: 5, maxBytes: 0), .max),
    ] as [(DecodedLimits, UInt64)])
  func itKeepsWhatWasUsedLast(limits: DecodedLimits, digestMask: UInt64) throws {
    var (table, model) = (DecodedTable(limits), Model(limits: limits))
    var random = GeneratorOfNumbers(state: 42)
    let keys = try (0..<20).map { try CacheKey("notes/\($0)") }
    for step in 0..<5_000 {
      let number = random.next(20)
      // With few digests, many keys share one, and so one place.
      let (key, digest) = (keys[number], UInt64(number) &* 0x9E37_79B9_7F4A_7C15 & digestMask)
      switch random.next(5) {
      case 0, 1:
        let kept = Kept(
          key: key, digest: digest, bytes: random.next(60), count: random.next(2) == 0 ? nil : UInt64(step))
        table.keep(entry(key, digest, bytes: kept.bytes), changeCount: kept.count)
        model.keep(kept)
      case 2:
        let wasKept = model.kept.contains { $0.digest == digest }
        #expect(table.remove(digest) == wasKept, "step \(step)")
        model.kept.removeAll { $0.digest == digest }
      default:
        let found = table.use(key, digest).map {
          Kept(key: $0.entry.key, digest: $0.entry.digest, bytes: $0.entry.payloadBytes, count: $0.changeCount)
        }
        #expect(found == model.kept.first { $0.key == key }, "step \(step)")
        if let found {
          model.kept.removeAll { $0.key == key }
          model.kept.append(found)
        }
      }
      #expect(table.count == model.kept.count && table.payloadBytes == model.bytes, "step \(step)")
    }
  }

  @Test func aWalkOverManyEntriesLeavesUsedEntries() throws {
    var table = DecodedTable(DecodedLimits(maxEntries: 10, maxBytes: 1_000))
    let keys = try (0..<100).map { try CacheKey("notes/\($0)") }
    let digests = keys.map { AccessRecord.digest(of: $0) }
    for (key, digest) in zip(keys, digests) { table.keep(entry(key, digest, bytes: 1), changeCount: 1) }
    for number in 0..<10 { #expect(table.use(keys[number], digests[number]) != nil, "\(number)") }
    #expect(table.use(keys[99], digests[99]) == nil)
    table.keep(entry(keys[99], digests[99], bytes: 1), changeCount: 1)
    #expect(table.use(keys[99], digests[99]) != nil, "it came for the second time")
    #expect(table.use(keys[0], digests[0]) == nil, "it was not used for the longest time")
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
