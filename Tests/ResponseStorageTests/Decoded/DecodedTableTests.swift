import StorageSPI
import Testing

@testable import ResponseStorage

/// The table of decoded entries against a list of them.
struct DecodedTableTests {
  private struct Kept: Equatable {
    let key: CacheKey
    let bytes: Int
    let count: UInt64?
  }

  private let codec = CodecIdentity()
  private let metadata = EntryMetadata(
    storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")

  private func entry(_ key: CacheKey, bytes: Int) -> DecodedEntry {
    DecodedEntry(key: key, metadata: metadata, payloadBytes: bytes, codec: codec)
  }

  @Test(
    arguments: [
      (DecodedLimits(maxEntries: 8, maxBytes: 1_000_000), UInt64.max), (DecodedLimits(maxEntries: 8, maxBytes: 100), 3),
      (DecodedLimits(maxEntries: 1_000, maxBytes: 90), 0), (DecodedLimits(maxEntries: 1, maxBytes: 1_000), 1),
      (DecodedLimits(maxEntries: 5, maxBytes: 0), .max),
    ] as [(DecodedLimits, UInt64)])
  func itKeepsWhatWasUsedLast(limits: DecodedLimits, digestMask: UInt64) throws {
    var (table, model) = (DecodedTable(limits), [Kept]())
    var random = GeneratorOfNumbers(state: 42)
    let keys = try (0..<20).map { try CacheKey("notes/\($0)") }
    for step in 0..<5_000 {
      let number = random.next(20)
      // With few digests many keys share one.
      let (key, digest) = (keys[number], UInt64(number) &* 0x9E37_79B9_7F4A_7C15 & digestMask)
      switch random.next(5) {
      case 0, 1:
        let kept = Kept(key: key, bytes: random.next(60), count: random.next(2) == 0 ? nil : UInt64(step))
        table.keep(entry(key, bytes: kept.bytes), digest, changeCount: kept.count)
        model.removeAll { $0.key == key }
        if kept.bytes <= limits.maxBytes { model.append(kept) }
        while model.count > limits.maxEntries || model.map(\.bytes).reduce(0, +) > limits.maxBytes {
          model.removeFirst()
        }
      case 2:
        table.remove(key, digest)
        model.removeAll { $0.key == key }
      default:
        let found = table.use(key, digest).map {
          Kept(key: $0.entry.key, bytes: $0.entry.payloadBytes, count: $0.changeCount)
        }
        #expect(found == model.first { $0.key == key }, "step \(step)")
        if let found {
          model.removeAll { $0.key == key }
          model.append(found)
        }
      }
      #expect(table.count == model.count && table.payloadBytes == model.map(\.bytes).reduce(0, +), "step \(step)")
    }
  }
}

/// The numbers of a linear congruential generator (Knuth, MMIX).
private struct GeneratorOfNumbers {
  var state: UInt64

  mutating func next(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % limit
  }
}
