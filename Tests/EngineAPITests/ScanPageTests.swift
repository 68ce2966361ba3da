import EngineAPI
import Testing

/// How a page of an ordered engine ends.
@Suite struct ScanPageTests {
  private let keys = ["a/1", "a/2", "b/1"]

  private func page(_ request: ScanRequest, sizes: [Int], failure: CacheError? = nil) throws -> ScanPage {
    let metadata = EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
    return try ScanPage(request) { page throws(CacheError) in
      for (key, size) in zip(keys, sizes) {
        let key = try CacheKey(key)
        guard page.add(key, metadata, payloadBytes: size, payload: [UInt8](repeating: 7, count: size)) else { return }
      }
      if let failure { throw failure }
    }
  }

  @Test(arguments: [(1, 1, "a/1"), (2, 2, "a/2"), (3, 3, nil), (.max, 3, nil)] as [(Int, Int, String?)])
  func aPageEndsAfterItsLimit(limit: Int, count: Int, next: String?) throws {
    let found = try page(ScanRequest(limit: limit), sizes: [5, 5, 5])
    #expect(found.entries.count == count && found.next == next)
    #expect(found.entries.allSatisfy { $0.payload == nil && $0.payloadBytes == 5 })
  }

  @Test func payloadsEndAPageAfterFourMebibytesButNotBeforeItsFirstEntry() throws {
    let request = ScanRequest(includesPayloads: true)
    let most = ScanRequest.maximumPayloadBytes
    #expect(try page(request, sizes: [most, 0, 0]).next == nil)
    let full = try page(request, sizes: [most, 1, 0])
    #expect(full.entries.count == 1 && full.next == "a/1" && full.entries[0].payload?.count == most)
    #expect(try page(request, sizes: [most + 1, 0, 0]).entries.count == 1)
    #expect(
      try page(ScanRequest(), sizes: [most, most, most]).next == nil, "without payloads their size does not count")
  }

  @Test func aPageEndsBeforeAnEntryThatCannotBeRead() throws {
    let damage = CacheError(.damaged, "x")
    #expect(try page(ScanRequest(), sizes: [1], failure: damage).next == "a/1")
    #expect(throws: CacheError.self) { try page(ScanRequest(), sizes: [], failure: damage) }
    #expect(throws: CacheError.self) { try page(ScanRequest(), sizes: [1], failure: CacheError(.ioFailed, "x")) }
  }

  @Test(arguments: ["", "a/", "a/1", "b", "c"], [nil, "a/1", "a/15", "b/1"] as [String?])
  func theBoundsHoldTheKeysThatAScanVisits(prefix: String, position: String?) throws {
    for isDescending in [false, true] {
      let request = ScanRequest(prefix: prefix, after: position, isDescending: isDescending)
      let (lower, upper) = request.bounds
      for key in keys { #expect(try request.contains(CacheKey(key)) == (lower <= key && key < upper), "\(key)") }
    }
  }
}
