internal import FetchVocabulary
public import StorageSPI

/// How much a store holds, counted entry by entry if damage prevents the engine from knowing.
struct StoreCount {
  private(set) var tally: EntryTally
  /// The space that the store takes up on its medium, in bytes; `nil` if the engine cannot tell.
  private(set) var storageBytes: Int?
  /// What could not be counted.
  private(set) var damage = StoreDamage()

  /// Counts what `engine` holds. Cost: that of the engine's statistics; with damage, a pass over all entries.
  ///
  /// - Parameter onlyReachable: whether to go on without what cannot be reached.
  init(_ engine: any StorageEngine, onlyReachable: Bool = false) async throws(CacheError) {
    do throws(CacheError) {
      let found = onlyReachable ? try await engine.reachableStatistics() : Reachable(try await engine.statistics())
      (tally, storageBytes) = (found.content.tally, found.content.storageBytes)
      damage.unreachable = found.missing
    } catch {
      guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
      tally = EntryTally()
      var walk = StoreWalk(engine: engine, onlyReachable: onlyReachable)
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
  /// The number of entries without leases; `nil` if damage prevents the engine from counting them quickly.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func count() async throws(CacheError) -> Int? {
    do throws(CacheError) {
      return try await engine.statistics().tally.total(except: Lease.namespace).entries
    } catch {
      guard error.isOfData else { throw error }
      return nil
    }
  }
}

extension EntryTally {
  /// The tally shown to people: everything except the leases of flights.
  public var withoutLeases: EntryTally { without(Lease.namespace) }
}
