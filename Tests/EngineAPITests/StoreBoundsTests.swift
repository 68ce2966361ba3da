import EngineAPI
import Testing

@Suite struct StoreBoundsTests {
  /// Two entries of 10 bytes together, and a lease of 100.
  private let count = StoreCount(namespaces: [
    "a": EntryCount(entries: 1, payloadBytes: 4), "b": EntryCount(entries: 1, payloadBytes: 6),
    "leases": EntryCount(entries: 1, payloadBytes: 100),
  ])

  @Test(
    arguments: [
      (3, 110, nil, true), (2, 110, nil, false), (3, 109, nil, false), (.max, .max, nil, true),
      (2, 10, "leases", true), (1, 10, "leases", false), (2, 9, "leases", false), (2, 104, "b", true),
      (3, 110, "absent", true), (2, 110, "lease", false), (0, 0, "leases", false),
    ] as [(Int, Int, String?, Bool)])
  func boundsHoldToTheEntryAndTheByte(maxEntries: Int, maxPayloadBytes: Int, exempt: String?, holds: Bool) throws {
    let bounds = StoreBounds(maxEntries: maxEntries, maxPayloadBytes: maxPayloadBytes, exemptNamespace: exempt)
    #expect(bounds.contain(count) == holds)
    if holds {
      try bounds.require(count)
    } else {
      let error = #expect(throws: CacheError.self) { try bounds.require(count) }
      #expect(error?.code == .overBounds)
      #expect(error?.message.contains("\(maxEntries) entries or \(maxPayloadBytes) bytes") == true)
      #expect(error?.hint.isEmpty == false)
    }
  }

  @Test func nothingIsWithinAnyBounds() {
    #expect(StoreBounds(maxEntries: 0, maxPayloadBytes: 0).contain(StoreCount()))
  }
}
