import EngineAPI
import Testing

@Suite struct StoreCountTests {
  private func count(_ entries: Int, _ bytes: Int, _ expiry: Int64) -> EntryCount {
    EntryCount(entries: entries, payloadBytes: bytes, earliestExpiry: Timestamp(milliseconds: expiry))
  }

  @Test func addedAndRemovedEntriesLeaveNothing() {
    var store = StoreCount()
    store["a"].add(payloadBytes: 5, retainUntil: Timestamp(milliseconds: 70))
    store["a"].add(payloadBytes: 0, retainUntil: Timestamp(milliseconds: 60))
    store["b"].add(payloadBytes: 7, retainUntil: Timestamp(milliseconds: 90))
    #expect(store.namespaces == ["a": count(2, 5, 60), "b": count(1, 7, 90)])
    #expect((store.entries, store.payloadBytes) == (3, 12))
    store["a"].remove(payloadBytes: 0)
    #expect(store["a"] == count(1, 5, 60), "the earliest expiry stays until it is known again")
    store["a"].remove(payloadBytes: 5)
    #expect(store.namespaces == ["b": count(1, 7, 90)])
    store["b"].remove(payloadBytes: 7)
    #expect(store == StoreCount())
    #expect(store["b"].earliestExpiry == .distantFuture)
  }

  @Test func aTotalLeavesOutTheExemptNamespace() {
    let store = StoreCount(
      namespaces: ["a": count(3, 12, 5), "b": count(1, 1, 9), "c": count(0, 0, 1)], storageBytes: 99)
    #expect(store.namespaces.keys.sorted() == ["a", "b"], "a namespace without entries is left out")
    #expect(store.total() == count(4, 13, 5))
    #expect(store.total(except: "a") == count(1, 1, 9))
    #expect(store.total(except: "x") == store.total())
    #expect(store.without("a") == StoreCount(namespaces: ["b": count(1, 1, 9)], storageBytes: 99))
  }

  @Test func differencesAreAdded() {
    var store = StoreCount(namespaces: ["a": count(3, 12, 50), "b": count(1, 1, 90)])
    store.add(["a": count(-1, 8, 40), "b": EntryCount(entries: -1, payloadBytes: -1), "c": count(2, 2, 20)])
    #expect(store.namespaces == ["a": count(2, 20, 40), "c": count(2, 2, 20)])
  }
}

@Suite struct ScanRequestTests {
  @Test(
    arguments: [
      ("", nil, false, true), ("a/", nil, true, true), ("b/", nil, false, false), ("", "a/1", false, true),
      ("", "a/2", false, false), ("", "a/3", false, false), ("", "a/1", true, false), ("", "a/2", true, false),
      ("", "a/20", true, true), ("a/2", "a/1", false, true), ("a/20", nil, false, false),
    ] as [(String, String?, Bool, Bool)])
  func aPageBeginsAfterItsPosition(prefix: String, position: String?, isDescending: Bool, isVisited: Bool) throws {
    let request = ScanRequest(prefix: prefix, after: position, isDescending: isDescending)
    #expect(request.contains(try CacheKey("a/2")) == isVisited)
  }

  @Test func anEntryHasTheSizeOfItsPayload() throws {
    let metadata = EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
    let key = try CacheKey("a/1")
    let (with, without) = (
      ScannedEntry(key: key, metadata: metadata, payload: [1, 2]),
      ScannedEntry(key: key, metadata: metadata, payloadBytes: 2)
    )
    #expect((with.payloadBytes, with.payload) == (2, [1, 2]))
    #expect((without.payloadBytes, without.payload) == (2, nil))
  }
}
