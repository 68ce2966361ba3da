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

  @Test func differencesAreAdded() {
    var store = StoreCount(namespaces: ["a": count(3, 12, 50), "b": count(1, 1, 90)])
    store.add(["a": count(-1, 8, 40), "b": EntryCount(entries: -1, payloadBytes: -1), "c": count(2, 2, 20)])
    #expect(store.namespaces == ["a": count(2, 20, 40), "c": count(2, 2, 20)])
  }
}
