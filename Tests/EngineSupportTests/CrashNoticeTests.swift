import CCrashNotice
import Testing

/// The table of mapped stores.
@Suite(.serialized) struct CrashNoticeTests {
  private func add(_ map: UnsafeMutableRawBufferPointer) -> Int32 {
    ccrash_add(map.baseAddress, map.count, "/store", "mapped", "/store.crashed")
  }

  @Test func anAddressBelongsToTheStoreThatHasItInItsMap() {
    let (first, second) = (
      UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 1),
      UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    )
    defer {
      first.deallocate()
      second.deallocate()
    }
    let store = add(first)
    #expect(store >= 0)
    #expect(ccrash_find(first.baseAddress) == store && ccrash_find(first.baseAddress! + 4_095) == store)
    #expect(ccrash_find(first.baseAddress! + 4_096) != store && ccrash_find(first.baseAddress! - 1) != store)
    #expect(ccrash_find(nil) == -1)
    ccrash_move(store, second.baseAddress, second.count)
    #expect(ccrash_find(first.baseAddress) == -1 && ccrash_find(second.baseAddress) == store)
    ccrash_remove(store)
    #expect(ccrash_find(second.baseAddress) == -1)
  }

  @Test func aFullTableRefusesAStoreAndTakesItOnceThereIsRoom() {
    let map = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { map.deallocate() }
    var stores: [Int32] = []
    while case let store = add(map), store >= 0 { stores.append(store) }
    #expect(stores.count > 1 && Set(stores).count == stores.count)
    stores.popLast().map(ccrash_remove)
    let store = add(map)
    #expect(store >= 0)
    for store in stores + [store] { ccrash_remove(store) }
    #expect(ccrash_find(map.baseAddress) == -1)
  }

  @Test func withoutHandlersNothingEndsTheProcess() {
    let map = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { map.deallocate() }
    let store = add(map)
    ccrash_end(store)
    ccrash_end(-1)
    ccrash_remove(store)
  }
}
