internal import CacheDomain
public import StorageSPI

/// How much a store holds, counted entry by entry where damage keeps the engine from telling.
struct StoreCount {
  private(set) var tally: EntryTally
  /// What the store takes up on its medium, in bytes; `nil` where the engine cannot tell.
  private(set) var storageBytes: Int?
  /// What could not be counted.
  private(set) var damage = StoreDamage()

  /// Counts what `engine` holds. Cost: without damage that of its statistics, else a pass over all entries.
  init(_ engine: any StorageEngine) async throws(StorageError) {
    do throws(StorageError) {
      let statistics = try await engine.statistics()
      (tally, storageBytes) = (statistics.tally, statistics.storageBytes)
    } catch {
      guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
      tally = EntryTally()
      var walk = StoreWalk(engine: engine)
      while let page = try await walk.next() {
        for entry in page {
          tally.add(
            EntryTally.Count(entries: 1, payloadBytes: entry.payloadBytes),
            to: EntryTally.Slot(namespace: entry.key.namespace, entry.metadata))
        }
      }
      damage = StoreDamage(walk)
    }
  }
}

extension EntryStore {
  /// How many entries there are, leases aside; `nil` where damage keeps them from being counted at once.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func count() async throws(CacheError) -> Int? {
    do throws(StorageError) {
      return try await engine.statistics().tally.total(except: Lease.namespace).entries
    } catch {
      guard error.isOfData else { throw CacheError(error) }
      return nil
    }
  }
}

extension EntryTally {
  /// What is counted when people are told how much a store holds: all but the leases of flights.
  public var withoutLeases: EntryTally { without(Lease.namespace) }
}
