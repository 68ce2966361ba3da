import Synchronization
import Testing

@testable import EngineAPI

@Suite struct SnapshotKeeperTests {
  /// A reader of a store of which only the change count matters.
  ///
  /// `@unchecked Sendable`: it is used by one caller at a time, which the pool sees to.
  private final class Reader: SnapshotHolding, @unchecked Sendable {
    private var kept: KeptSnapshot
    private(set) var isReading = false
    private(set) var begun = 0

    init(_ keeper: SnapshotKeeper) { kept = KeptSnapshot(keeper) }

    func read(at count: UInt64?) {
      if !kept.isCurrent(count) {
        endKeptSnapshot()
        isReading = true
        begun += 1
        kept.began(at: count)
      }
      isReading = kept.stays()
    }

    func endKeptSnapshot() {
      guard kept.isOpen else { return }
      isReading = false
      kept.ended()
    }
  }

  private final class ChangingStore: Sendable {
    let count = Atomic<UInt64>(1)
  }

  /// A keeper whose thread hardly ever looks, and a pool that it looks after.
  private struct Store {
    let keeper = SnapshotKeeper(interval: .seconds(3_600))
    let pool = ResourcePool<Reader>()

    init() { keeper.add(pool) }

    @discardableResult func read(at count: UInt64?, times: Int = 1) throws -> Reader {
      var last: Reader?
      for _ in 0..<times {
        last = try pool.withResource(make: { Reader(keeper) }) { reader in
          reader.read(at: count)
          return reader
        }
      }
      return try #require(last)
    }

    /// A reader that keeps its snapshot.
    func keepingReader() throws -> Reader { try read(at: 1, times: KeptSnapshot.requiredEqualStates) }
  }

  @Test func aWriterLeavesReadersInUseAlone() throws {
    let store = Store()
    let reader = try store.keepingReader()
    try store.pool.withResource(make: { Reader(store.keeper) }) { _ in store.keeper.endIdle() }
    #expect(reader.isReading)
    #expect(store.keeper.isKeeping)
    store.keeper.endIdle()
    #expect(!reader.isReading)
  }

  @Test func allPoolsOfAStoreAreLookedAfter() throws {
    let store = Store()
    let other = ResourcePool<Reader>()
    store.keeper.add(other)
    for _ in 0..<KeptSnapshot.requiredEqualStates {
      try other.withResource(make: { Reader(store.keeper) }) { $0.read(at: 1) }
    }
    let reader = try store.keepingReader()
    store.keeper.endIdle()
    #expect(!reader.isReading)
    #expect(!store.keeper.isKeeping)
  }

  @Test func aReaderLetGoIsNoLongerKept() throws {
    let store = Store()
    weak let reader = try store.keepingReader()
    store.pool.close()
    #expect(reader == nil)
    #expect(!store.keeper.isKeeping)
  }

  @Test func theThreadEndsTransactionsOfIdleReaders() async throws {
    let keeper = SnapshotKeeper(interval: .microseconds(100))
    let pool = ResourcePool<Reader>()
    keeper.add(pool)
    // It has nothing to do in between.
    for _ in 0..<3 {
      for _ in 0..<KeptSnapshot.requiredEqualStates {
        try pool.withResource(make: { Reader(keeper) }) { $0.read(at: 1) }
      }
      while keeper.isKeeping { await Task.yield() }
    }
    #expect(try pool.withResource(make: { Reader(keeper) }) { !$0.isReading && $0.begun > 0 })
  }

  @Test func theThreadEndsWhenNothingIsKept() async throws {
    weak var watched: SnapshotKeeper?
    do {
      let keeper = SnapshotKeeper(interval: .microseconds(10))
      watched = keeper
      for _ in 0..<2 { #expect(keeper.willKeep()) }
      for _ in 0..<2 { keeper.didEnd() }
    }
    // The thread itself holds it until it ends.
    while watched != nil { await Task.yield() }
  }

  @Test func readersWritersAndTheThreadDoNotDisturbEachOther() async throws {
    let keeper = SnapshotKeeper(interval: .microseconds(50))
    let pool = ResourcePool<Reader>()
    keeper.add(pool)
    let store = ChangingStore()
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<2_000 {
            try? pool.withResource(make: { Reader(keeper) }) { $0.read(at: store.count.load(ordering: .relaxed)) }
          }
        }
      }
      group.addTask {
        for _ in 0..<2_000 {
          keeper.endIdle()
          store.count.wrappingAdd(1, ordering: .relaxed)
          await Task.yield()
        }
      }
    }
    keeper.endIdle()
    #expect(!keeper.isKeeping)
  }
}
